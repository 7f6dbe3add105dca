"""Exports of Nsight Systems of two made-up programs.

usage: python3 examples/gpu/make.py [FOLDER]      writes all of them, by default where this file lies

filter.sqlite, filter-2.sqlite: a program that filters pictures on a GPU, before and after a change, as `nsys profile --trace cuda,nvtx,osrt` and `nsys export --type sqlite` give them. A thread reads the
pictures, another one uploads them, starts kernels on three streams that overlap, and fetches the results. The first version fetches them into pageable memory, with a copy that blocks; the second one into
pinned memory, while the next picture is being filtered, and blurs with one kernel instead of two.
bodies/: a program that moves n * 1024 bodies, measured with Extra-Prof at five sizes, the largest on two processes: forces grow with n^2, sorting with n log n, moving with n.

The programs are played: calls wait for the host's clock, activities for their stream. Same numbers on every machine: nothing is measured, chance is a formula."""
import math
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, '..', '..', 'tests', 'cli'))
from nsight_make import CURRENT, DEVICE, PAGEABLE, PINNED, SCHEMA_2_9_1, START_END, TO_DEVICE, TO_HOST, Export, global_tid

MICRO, MILLI = 1000, 1000000
SYNC_EVENT, SYNC_STREAM, SYNC_CONTEXT = 1, 3, 4
PICTURES, PICTURE_BYTES = 4, 2560 * 1440 * 4


class Host:
    """A thread of the program: its clock, and what it does one after the other."""
    def __init__(self, export, pid, tid, start, streams, chance):
        self.export, self.thread, self.clock, self.streams, self.chance = export, global_tid(pid, tid), start, streams, chance
        self.open = []

    def noise(self, part=0.02):
        self.chance = (self.chance * 1103515245 + 12345) % 2 ** 31
        return 1 + part * (self.chance / 2 ** 30 - 1)

    def compute(self, time):
        self.clock += round(time * self.noise())

    def begin(self, name):
        self.open.append((name, self.clock))
        self.compute(0.6 * MICRO)

    def end(self):
        name, start = self.open.pop()
        self.compute(0.4 * MICRO)
        self.export.range(name, start, self.clock, thread=self.thread)

    def call(self, name, time, wait_until=0):
        """Gives when it began."""
        self.compute(0.3 * MICRO)
        start = self.clock
        self.clock = max(start + round(time * self.noise()), wait_until)
        self.export.call(name, start, self.clock, thread=self.thread)
        return start

    def os_call(self, name, time, wait_until=0):
        self.compute(0.2 * MICRO)
        start = self.clock
        self.clock = max(start + round(time * self.noise()), wait_until)
        self.export.osrt(name, start, self.clock, thread=self.thread)

    def queue(self, stream, time, latency=2.1 * MICRO, after=0):
        """When an activity of a stream begins and ends that the last call asked for."""
        begin = max(self.clock + round(latency * self.noise(0.1)), self.streams.get(stream, 0) + 900, after)
        self.streams[stream] = begin + max(round(time * self.noise()), 1)
        return begin, self.streams[stream]

    def launch(self, name, stream, time, grid, block, after=0, **more):
        self.call('cudaLaunchKernel_v7000', 4.6 * MICRO)
        begin, end = self.queue(stream, time, after=after)
        self.export.kernel(name, begin, end, stream=stream, grid=grid, block=block, **more)
        return end

    def copy_async(self, kind, stream, bytes, after=0):
        """From or to pinned memory, 24 GB/s."""
        self.call('cudaMemcpyAsync_v3020', 5.3 * MICRO)
        begin, end = self.queue(stream, bytes / 24, after=after)
        self.export.copy(kind, begin, end, bytes, *((PINNED, DEVICE) if kind == TO_DEVICE else (DEVICE, PINNED)), stream=stream)
        return end

    def copy_blocking(self, kind, stream, bytes, pageable=True):
        """From or to pageable memory, 9 GB/s: the host does its part of it before and behind."""
        start = self.clock + 300
        begin, end = start + round(7 * MICRO * self.noise()), 0
        begin = max(begin, self.streams.get(stream, 0) + 900)
        end = self.streams[stream] = begin + round(bytes / 9 * self.noise())
        self.call('cudaMemcpy_v3020', 0, end + round(3.2 * MICRO * self.noise()))
        memory = PAGEABLE if pageable else PINNED
        self.export.copy(kind, begin, end, bytes, *((memory, DEVICE) if kind == TO_DEVICE else (DEVICE, memory)), stream=stream)

    def memset(self, stream, bytes):
        self.call('cudaMemsetAsync_v3020', 3.4 * MICRO)
        begin, end = self.queue(stream, 1.5 * MICRO)
        self.export.memset(0, begin, end, bytes, stream=stream)

    def synchronize(self, name, kind, until, stream=None):
        start = self.call(name, 3 * MICRO, until + round(2.5 * MICRO * self.noise()))
        self.export.sync(kind, start + 1200, self.clock - 700, stream=4294967295 if stream is None else stream)


# ---------------------------------------------------------------- pictures
DEMANGLED = {  # short name: as C++ declares it
    'blur_rows': 'void blur_rows<float4>(const T1 *, T1 *, int, int)', 'blur_columns': 'void blur_columns<float4>(const T1 *, T1 *, int, int)',
    'blur': 'void blur<float4, (int)7>(const T1 *, T1 *, int, int)', 'edges': 'edges(const float4 *, unsigned char *, int, int)',
    'histogram': 'histogram(const float4 *, unsigned int *, int)'}
MANGLED = {
    'blur_rows': '_Z9blur_rowsI6float4EvPKT_PS1_ii', 'blur_columns': '_Z12blur_columnsI6float4EvPKT_PS1_ii', 'blur': '_Z4blurI6float4Li7EEvPKT_PS1_ii',
    'edges': '_Z5edgesPK6float4Phii', 'histogram': '_Z9histogramPK6float4Pji'}
UPLOAD, MAIN, SIDE, DOWNLOAD = 13, 14, 15, 16
PID, MAIN_TID, READER_TID = 48213, 48213, 48220


def kernel(host, name, stream, time, grid, block, after=0, registers=32, shared=0):
    return host.launch(name, stream, time, grid, block, after, demangled=DEMANGLED[name], mangled=MANGLED[name], registers=registers, static=shared)


def read_pictures(reader):
    """When each of them is in memory."""
    ready = []
    for _ in range(PICTURES):
        reader.begin('read picture')
        reader.os_call('fopen64', 38 * MICRO)
        reader.os_call('read', 840 * MICRO)
        reader.os_call('fclose', 6 * MICRO)
        reader.compute(90 * MICRO)
        reader.os_call('pthread_cond_signal', 2 * MICRO)
        ready.append(reader.clock)
        reader.end()
    return ready


def filter_picture(main, number, ready, version, pending):
    """Gives when its result is there to be fetched."""
    began = main.clock
    main.begin('picture')
    if ready > main.clock:
        main.os_call('pthread_cond_wait', 0, ready + 4 * MICRO)
    main.begin('upload')
    uploaded = main.copy_async(TO_DEVICE, UPLOAD, PICTURE_BYTES)
    main.call('cudaEventRecord_v3020', 1.4 * MICRO)
    main.call('cudaStreamWaitEvent_v3020', 1.1 * MICRO)
    main.end()
    main.begin('filter')
    if version == 0:
        kernel(main, 'blur_rows', MAIN, 620 * MICRO, (80, 180, 1), (32, 8, 1), uploaded, 40, 9216)
        blurred = kernel(main, 'blur_columns', MAIN, 710 * MICRO, (80, 180, 1), (32, 8, 1), 0, 40, 9216)
    else:
        blurred = kernel(main, 'blur', MAIN, 840 * MICRO, (80, 180, 1), (32, 8, 1), uploaded, 56, 13312)
    kernel(main, 'edges', SIDE, 430 * MICRO, (40, 90, 1), (16, 16, 1), uploaded, 24)
    main.begin('statistics')
    main.memset(SIDE, 1024)
    kernel(main, 'histogram', SIDE, 300 * MICRO, (160, 1, 1), (256, 1, 1), 0, 20, 1024)
    main.end()
    main.end()
    main.begin('download')
    if version == 0:
        main.synchronize('cudaStreamSynchronize_v3020', SYNC_STREAM, blurred, MAIN)
        main.copy_blocking(TO_HOST, MAIN, PICTURE_BYTES)
    else:
        main.copy_async(TO_HOST, DOWNLOAD, PICTURE_BYTES, blurred)
        main.call('cudaEventRecord_v3020', 1.4 * MICRO)
        if pending:
            main.synchronize('cudaEventSynchronize_v3020', SYNC_EVENT, pending)
    main.end()
    main.compute(35 * MICRO)
    main.end()
    fetched = main.streams[MAIN if version == 0 else DOWNLOAD]
    main.export.range(f'picture {number} in flight', began, max(main.clock, fetched), thread=main.thread, kind=START_END)
    return fetched


def samples(export, until):
    """Where the host was, each millisecond."""
    inside = ['_start', 'main', 'filter_pictures(Job const&)']
    for i, time in enumerate(range(2 * MILLI, until, 1500 * MICRO)):
        if i % 3 == 2:
            export.sample(time, ['clone', 'start_thread', 'read_pictures(Job const&)', 'decode_row(unsigned char const*)'], thread=global_tid(PID, READER_TID), cpu=3)
        else:
            export.sample(time, inside + (['cudaStreamSynchronize', 'sched_yield'] if i % 3 else ['cudaMemcpy', 'memcpy']), thread=global_tid(PID, MAIN_TID), cpu=1)


def filter_program(version):
    x = Export(CURRENT)
    x.thread = global_tid(PID, MAIN_TID)
    x.device(0, processors=108, warps=64, name='NVIDIA A100-SXM4-40GB', major=8, pid=PID)
    x.row('TARGET_INFO_SESSION_START_TIME', utcEpochNs=1718000000123456789 + version * 86400 * 10 ** 9, utcTime=f'2024-06-{10 + version}T06:13:20', localTime=f'2024-06-{10 + version}T08:13:20')
    x.name_process(x.thread, '/home/ada/filter/filter')
    x.name_thread(x.thread, 'filter')
    x.name_thread(global_tid(PID, READER_TID), 'reader')
    streams = {}
    main, reader = Host(x, PID, MAIN_TID, 1 * MILLI, streams, 11 + version), Host(x, PID, READER_TID, 3600 * MICRO, streams, 7)
    main.begin('initialise')
    for name, time in (('cudaMalloc_v3020', 410 * MICRO), ('cudaMalloc_v3020', 62 * MICRO), ('cudaMalloc_v3020', 58 * MICRO), ('cudaHostAlloc_v3020', 1420 * MICRO)):
        main.call(name, time)
    for _ in range(3):
        main.call('cudaStreamCreate_v3020', 21 * MICRO)
    main.os_call('pthread_create', 48 * MICRO)
    x.mark('pictures begin', main.clock, thread=main.thread)
    main.end()
    pending = 0
    for number, ready in enumerate(read_pictures(reader)):
        pending = filter_picture(main, number, ready, version, pending)
    main.begin('finish')
    main.synchronize('cudaDeviceSynchronize_v3020', SYNC_CONTEXT, max(streams.values()))
    main.call('cudaFree_v3020', 160 * MICRO)
    main.call('cudaFree_v3020', 74 * MICRO)
    main.os_call('pthread_join', 12 * MICRO)
    main.end()
    samples(x, main.clock)
    x.row('ANALYSIS_DETAILS', globalVid=1 << 48, duration=main.clock + 400 * MICRO, startTime=0, stopTime=main.clock + 400 * MICRO)
    return x


# ---------------------------------------------------------------- bodies
class ProfiledHost(Host):
    """One whose ranges are those of Extra-Prof: whole call paths, in numbers of symbols."""
    def end(self):
        names = [name for name, _ in self.open]
        _, start = self.open.pop()
        self.compute(0.5 * MICRO)
        self.export.encoded(names, start, self.clock, thread=self.thread)


def bodies_program(n, rank):
    x = Export(SCHEMA_2_9_1)
    pid = 7100 + 16 * rank
    x.thread = global_tid(pid, pid)
    x.device(0, processors=80, warps=64, name='Tesla V100-SXM2-32GB', major=7, pid=pid)
    host = ProfiledHost(x, pid, pid, 500 * MICRO, {}, n + rank)
    grid, bytes = (n * 4, 1, 1), n * 1024 * 32
    host.begin('main')
    host.begin('initialise')
    host.call('cudaMalloc_v3020', 130 * MICRO)
    host.compute(n * 0.9 * MICRO)
    host.copy_blocking(TO_DEVICE, 7, bytes)
    host.end()
    host.begin('simulate')
    for _ in range(3):
        host.begin('step')
        host.memset(13, n * 1024 * 12)
        forces = host.launch('forces', 13, 4 * MICRO + 1.9 * n * n, grid, (256, 1, 1))
        host.begin('update')
        host.launch('move', 13, 2.5 * MICRO + 310 * n, grid, (256, 1, 1))
        sorted_at = host.launch('sort_cells', 14, 6 * MICRO + 75 * n * math.log2(n), (n, 1, 1), (128, 1, 1), after=forces)
        host.end()
        host.synchronize('cudaDeviceSynchronize_v3020', SYNC_CONTEXT, max(host.streams[13], sorted_at))
        host.end()
    host.end()
    host.begin('output')
    host.copy_blocking(TO_HOST, 7, bytes)
    host.call('cudaFree_v3020', 90 * MICRO)
    host.end()
    host.compute(20 * MICRO)
    host.end()
    return x


# ---------------------------------------------------------------- the files
def write(export, folder, *names):
    path = os.path.join(folder, *names)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if os.path.exists(path):
        os.remove(path)
    export.write(path, page_size=1024)
    with open(path, 'r+b') as f:  # which version of SQLite wrote it says the header; here it says that of another day's
        f.seek(96)
        f.write((3040001).to_bytes(4, 'big'))


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else HERE
    for version, name in enumerate(('filter.sqlite', 'filter-2.sqlite')):
        write(filter_program(version), folder, name)
    for n in (64, 128, 256, 512, 1024):
        for rank in range(2 if n == 1024 else 1):
            write(bodies_program(n, rank), folder, 'bodies', f'bodies.n{n}', f'rank{rank}.sqlite')


if __name__ == '__main__':
    main()
