#include "server/connections.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>

enum { SECONDS_FOR_ROOM = 2 };

struct as_connection {
    as_connection *next, *before;
    int socket;
    as_connection_phase phase;
    uint64_t since; /* what as_connections.clock said when the phase began */
    bool is_known;
    bool is_shut; /* it has lost its place, and will notice */
    size_t on_the_way;
};

struct as_connections {
    as_connection *first;
    size_t n_open;  /* but for those that are shut */
    uint64_t clock; /* counts changes of phases */
    size_t on_the_way;
    pthread_mutex_t lock;
    pthread_cond_t taken;
};

as_connections *as_connections_new(void) {
    as_connections *connections = calloc(1, sizeof *connections);
    if (!connections) return NULL;
    pthread_mutex_init(&connections->lock, NULL);
    pthread_cond_init(&connections->taken, NULL);
    return connections;
}

void as_connections_free(as_connections *connections) {
    if (!connections) return;
    pthread_mutex_destroy(&connections->lock);
    pthread_cond_destroy(&connections->taken);
    free(connections);
}

/* ---- giving way: with the lock held ------------------------------------------------------------------------------ */

static void shut(as_connections *connections, as_connection *connection) {
    connection->is_shut = true;
    connections->n_open--;
    shutdown(connection->socket, SHUT_RDWR);
}

static int rank_of(const as_connection *connection) {
    return !connection->is_known ? 0 : connection->phase == AS_CONNECTION_WAITS ? 1 : 2;
}

/* The first to give way, or NULL. */
static as_connection *find_first(const as_connections *connections) {
    as_connection *found = NULL;
    for (as_connection *at = connections->first; at; at = at->next) {
        if (at->is_shut || at->phase == AS_CONNECTION_IS_SERVED) continue;
        int order = found ? rank_of(at) - rank_of(found) : -1;
        if (order < 0 || (order == 0 && at->since < found->since)) found = at;
    }
    return found;
}

/* The one that has taken its answer for longest, or NULL. */
static as_connection *find_slowest(const as_connections *connections) {
    as_connection *found = NULL;
    for (as_connection *at = connections->first; at; at = at->next) {
        if (at->is_shut || at->phase != AS_CONNECTION_TAKES || at->on_the_way == 0) continue;
        if (!found || at->since < found->since) found = at;
    }
    return found;
}

/* ---- coming and going -------------------------------------------------------------------------------------------- */

as_connection *as_connections_add(as_connections *connections, int socket) {
    as_connection *connection = calloc(1, sizeof *connection), *first;
    if (!connection) return NULL;
    connection->socket = socket;
    pthread_mutex_lock(&connections->lock);
    while (connections->n_open >= AS_MOST_CONNECTIONS && (first = find_first(connections))) shut(connections, first);
    connection->since = ++connections->clock;
    connection->next = connections->first;
    if (connection->next) connection->next->before = connection;
    connections->first = connection;
    connections->n_open++;
    pthread_mutex_unlock(&connections->lock);
    return connection;
}

void as_connections_remove(as_connections *connections, as_connection *connection) {
    if (!connection) return;
    pthread_mutex_lock(&connections->lock);
    if (connection->next) connection->next->before = connection->before;
    *(connection->before ? &connection->before->next : &connections->first) = connection->next;
    if (!connection->is_shut) connections->n_open--;
    pthread_mutex_unlock(&connections->lock);
    free(connection);
}

void as_connection_is_at(as_connections *connections, as_connection *connection, as_connection_phase phase) {
    if (!connection) return;
    pthread_mutex_lock(&connections->lock);
    connection->phase = phase;
    connection->since = ++connections->clock;
    pthread_mutex_unlock(&connections->lock);
}

void as_connection_is_known(as_connections *connections, as_connection *connection) {
    if (!connection) return;
    pthread_mutex_lock(&connections->lock);
    connection->is_known = true;
    pthread_mutex_unlock(&connections->lock);
}

/* ---- answers ----------------------------------------------------------------------------------------------------- */

bool as_connections_answer(as_connections *connections, as_connection *connection, size_t size) {
    struct timespec deadline;
    clock_gettime(CLOCK_REALTIME, &deadline);
    deadline.tv_sec += SECONDS_FOR_ROOM;
    int waited = 0;
    if (!connection || size > AS_MOST_ON_THE_WAY) return false;
    pthread_mutex_lock(&connections->lock);
    while (connections->on_the_way > AS_MOST_ON_THE_WAY - size && waited == 0) {
        as_connection *slowest = find_slowest(connections);
        if (slowest) shut(connections, slowest);
        waited = pthread_cond_timedwait(&connections->taken, &connections->lock, &deadline);
    }
    bool fits = connections->on_the_way <= AS_MOST_ON_THE_WAY - size;
    if (fits) {
        connections->on_the_way += size;
        connection->on_the_way += size;
    }
    pthread_mutex_unlock(&connections->lock);
    return fits;
}

void as_connections_taken(as_connections *connections, as_connection *connection, size_t size) {
    if (!connection) return;
    pthread_mutex_lock(&connections->lock);
    connections->on_the_way -= size;
    connection->on_the_way -= size;
    pthread_cond_broadcast(&connections->taken);
    pthread_mutex_unlock(&connections->lock);
}
