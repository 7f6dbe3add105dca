/* What the command does when it is interrupted, or an input shrinks while it is mapped. */
#ifndef AS_CLI_SIGNALS_H
#define AS_CLI_SIGNALS_H

/* SIGINT, SIGTERM, SIGHUP: no temporary file is left, then death by the signal (unless it was ignored, as nohup does).
 * SIGBUS: one line and status 3. SIGPIPE and SIGXFSZ become errors of write(). */
void as_signals_install(void);

#endif
