/* What the command does when it is interrupted, or an input shrinks while it is mapped. */
#ifndef AS_CLI_SIGNALS_H
#define AS_CLI_SIGNALS_H

/* SIGINT, SIGTERM, SIGHUP: no temporary file is left, then death by the signal (unless it was ignored, as nohup does).
 * SIGBUS: one line that names the input, and status 3. SIGPIPE and SIGXFSZ become errors of write(). */
void as_signals_install(void);

/* From now on inputs that shrink have zeros instead of what is gone, and nobody dies: whoever calls this asks
 * as_mapped_has_changed() before he believes what was read. */
void as_signals_outlive_inputs(void);

#endif
