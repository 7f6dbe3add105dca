/* Who is connected to the server, and since when they keep their place. There are places for AS_MOST_CONNECTIONS;
 * whoever comes then takes the place of another: of one that never asked with the token, else of one that has nothing
 * under way, else of the one that has sent its question or taken its answer for longest. Nobody loses a place while an
 * answer is made for him. Answers that were not taken yet have a limit, too.
 *
 * May be used by several threads. */
#ifndef AS_SERVER_CONNECTIONS_H
#define AS_SERVER_CONNECTIONS_H

#include <stdbool.h>
#include <stddef.h>

enum { AS_MOST_CONNECTIONS = 128, AS_MOST_ON_THE_WAY = 64 << 20 };

typedef struct as_connections as_connections;
typedef struct as_connection as_connection;

/* What a connection is at. */
typedef enum as_connection_phase {
    AS_CONNECTION_WAITS,     /* for the next request, whose head is not there yet */
    AS_CONNECTION_SENDS,     /* the body of a request */
    AS_CONNECTION_IS_SERVED, /* its answer is made */
    AS_CONNECTION_TAKES      /* its answer */
} as_connection_phase;

/* NULL when memory is out. All connections must be gone when it is freed. */
as_connections *as_connections_new(void);
void as_connections_free(as_connections *connections);

/* A new one, at this socket, which is shut down where it has to give way (and closed by others). NULL when memory is
 * out: then it counts nowhere. */
as_connection *as_connections_add(as_connections *connections, int socket);
void as_connections_remove(as_connections *connections, as_connection *connection);

/* connection may be NULL. */
void as_connection_is_at(as_connections *connections, as_connection *connection, as_connection_phase phase);
/* It has asked with the token. */
void as_connection_is_known(as_connections *connections, as_connection *connection);

/* So many bytes wait to be taken by it from now on, until as_connections_taken(). Where there are too many then, those
 * who have taken theirs for longest give way. False: it is of no use, there is no room. */
bool as_connections_answer(as_connections *connections, as_connection *connection, size_t size);
void as_connections_taken(as_connections *connections, as_connection *connection, size_t size);

#endif
