#include "mpi/world.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* Counts of MPI are ints: more bytes go in pieces. */
#define PIECE ((uint64_t)1 << 30)

/* ---- waiting ----------------------------------------------------------------------------------------------------- */

/* Most MPIs wait at full speed. While the first process writes, the others have nothing to do for long: they give their
 * core away. */
static void wait_for(MPI_Request *request) {
    enum { EAGER = 2000 };
    static const struct timespec nap = {.tv_nsec = 500000};
    int is_done = 0;
    for (unsigned tries = 0; MPI_Test(request, &is_done, MPI_STATUS_IGNORE), !is_done; tries++) {
        if (tries > EAGER) nanosleep(&nap, NULL);
    }
}

static void broadcast(void *data, int size, uint32_t from) {
    MPI_Request request;
    MPI_Ibcast(data, size, MPI_BYTE, (int)from, MPI_COMM_WORLD, &request);
    wait_for(&request);
}

/* ---- meetings ---------------------------------------------------------------------------------------------------- */

static bool has_failed(const as_standing *standing) { return standing->is_over && standing->status > AS_EXIT_CHECK; }

/* All processes say how they stand. True: all want to exchange results. Otherwise the end is settled. */
static bool meet(as_world *world, as_standing mine) {
    uint32_t count = world->peers.share.count, failed = count, over = 0;
    MPI_Request request;
    MPI_Iallgather(&mine, sizeof mine, MPI_BYTE, world->standings, sizeof mine, MPI_BYTE, MPI_COMM_WORLD, &request);
    wait_for(&request);
    for (uint32_t i = count; i-- > 0;) {
        over += world->standings[i].is_over != 0;
        if (has_failed(&world->standings[i])) failed = i;
    }
    if (over == 0) return true;
    world->is_settled = true;
    if (failed < count) {
        char text[sizeof world->peers.failure - 32];
        memcpy(text, world->peers.failure, sizeof text);
        broadcast(text, sizeof text, failed);
        text[sizeof text - 1] = '\0';
        snprintf(world->peers.failure, sizeof world->peers.failure, "rank %u: %s", failed, text);
        world->status = (as_exit)world->standings[failed].status;
        return false;
    }
    world->status = (as_exit)world->standings[0].status;
    if (over < count) {
        snprintf(world->peers.failure, sizeof world->peers.failure,
                 "the processes do not have the same to do; is the input the same for all of them?");
        world->status = AS_EXIT_INPUT;
    }
    return false;
}

/* ---- exchange ---------------------------------------------------------------------------------------------------- */

static void send_bytes(const char *data, uint64_t size) {
    for (uint64_t at = 0; at < size; at += PIECE)
        MPI_Send(data + at, (int)(size - at < PIECE ? size - at : PIECE), MPI_BYTE, 0, 0, MPI_COMM_WORLD);
}

static void receive_bytes(char *data, uint64_t size, uint32_t from) {
    for (uint64_t at = 0; at < size; at += PIECE)
        MPI_Recv(data + at, (int)(size - at < PIECE ? size - at : PIECE), MPI_BYTE, (int)from, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
}

/* Room for what the others have; sizes are known. */
static bool make_room(const as_world *world, as_vec *bytes) {
    size_t others = 0;
    for (uint32_t i = 1; i < world->peers.share.count; i++) {
        if (!as_add_size(others, world->sizes[i], &others)) return false;
    }
    return as_vec_reserve(bytes, others);
}

static assay_status exchange(void *user, as_vec *bytes, assay_error *error) {
    as_world *world = user;
    const as_fit_share *share = &world->peers.share;
    if (!meet(world, (as_standing){0})) {
        assay_status code = world->status == AS_EXIT_USAGE ? ASSAY_E_USAGE : ASSAY_E_IO;
        return as_fail(error, code, AS_NOWHERE, "", "%s", world->peers.failure);
    }
    uint64_t size = bytes->count;
    MPI_Gather(&size, 1, MPI_UINT64_T, world->sizes, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    char has_room = share->index == 0 && make_room(world, bytes);
    broadcast(&has_room, 1, 0);
    if (!has_room) return as_fail_memory(error, NULL);
    if (share->index != 0) {
        send_bytes(bytes->data, size);
        return ASSAY_OK;
    }
    for (uint32_t i = 1; i < share->count; i++) {
        receive_bytes((char *)bytes->data + bytes->count, world->sizes[i], i);
        bytes->count += (size_t)world->sizes[i];
    }
    return ASSAY_OK;
}

/* ---- beginning and end ------------------------------------------------------------------------------------------- */

/* The cores of this machine, divided among its processes. */
static unsigned threads_each(void) {
    MPI_Comm machine;
    int here = 1;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine);
    MPI_Comm_size(machine, &here);
    MPI_Comm_free(&machine);
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    return cores > here ? (unsigned)(cores / here) : 1;
}

bool as_world_open(as_world *world) {
    int index, count;
    MPI_Comm_rank(MPI_COMM_WORLD, &index);
    MPI_Comm_size(MPI_COMM_WORLD, &count);
    *world = (as_world){.peers.share = {.index = (uint32_t)index, .count = (uint32_t)count, .exchange = exchange},
                        .peers.threads = threads_each()};
    world->peers.share.user = world;
    world->standings = calloc((size_t)count, sizeof *world->standings);
    world->sizes = calloc((size_t)count, sizeof *world->sizes);
    return world->standings && world->sizes;
}

as_exit as_world_close(as_world *world, as_exit status) {
    if (!world->is_settled) {
        meet(world, (as_standing){.is_over = 1, .status = (int32_t)status});
        if (world->peers.share.index == 0 && world->peers.failure[0] &&
            status <= AS_EXIT_CHECK) /* else it has said so */
            dprintf(STDERR_FILENO, "assay: %s\n", world->peers.failure);
    }
    free(world->standings);
    free(world->sizes);
    return world->status;
}
