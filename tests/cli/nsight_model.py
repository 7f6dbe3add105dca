"""A second evaluation of exports of Nsight Systems, for tests: from docs/formats/nsight.md alone, in plain Python, every rule as a loop over everything.

Model(path) has `mode`, `values` {(path, metric, place): value}, `events` [Event]. A path is a tuple of names; a place is ('thread', pid, tid) or ('stream', pid, device, context, stream);
times are nanoseconds, exact where the rules have no division (Fraction elsewhere)."""
import collections
import re
import sqlite3
from fractions import Fraction

EXTRA_PROF = 'de.tu-darmstadt.parallel.extra_prof'
COPIES = ['UNKNOWN', 'HOST_TO_DEVICE', 'DEVICE_TO_HOST', 'HOST_TO_DEVICE_ARRAY', 'DEVICE_ARRAY_TO_HOST', 'DEVICE_ARRAY_TO_DEVICE_ARRAY', 'DEVICE_ARRAY_TO_DEVICE', 'DEVICE_TO_DEVICE_ARRAY',
          'DEVICE_TO_DEVICE', 'HOST_TO_HOST', 'PEER_TO_PEER', 'UMA_HOST_TO_DEVICE', 'UMA_DEVICE_TO_HOST']
SYNCS = ['UNKNOWN', 'EVENT_SYNCHRONIZE', 'STREAM_WAIT_EVENT', 'STREAM_SYNCHRONIZE', 'CONTEXT_SYNCHRONIZE']
SYNC_CALLS = [('DeviceSynchronize', 4), ('CtxSynchronize', 4), ('EventSynchronize', 1), ('StreamSynchronize', 3), ('StreamWaitEvent', 2)]
ALLOCATIONS = ('cudaFree', 'cudaMalloc', 'cudaHostAlloc')
UNCORRELATED = '[Uncorrelated]'

MEMORY = ['pageable', 'pinned', 'device', 'array', 'managed', 'device static', 'managed static']
STYLES = {34: 'Mark', 59: 'PushPop', 60: 'StartEnd', 70: 'PushPop', 71: 'StartEnd'}

Event = collections.namedtuple('Event', 'kind name start end place path attributes')


class Row:
    """A row of a table; columns that it lacks are None."""

    def __init__(self, names, values):
        self.__dict__.update(zip(names, values))

    def __getattr__(self, name):
        return None

    @property
    def length(self):
        return 0 if self.end is None or self.end < self.start else self.end - self.start


def pid_of(g):
    return g >> 24 & 0xFFFFFF


def process_of(g):
    return None if g is None else g & ~0xFFFFFF


def thread_of(g):
    return 'thread', pid_of(g), g & 0xFFFFFF


def fit(text):
    """Without control characters: space between what was apart."""
    return re.sub('[\x00-\x1f\x7f]', '', re.sub('[\t\n\v\f\r]', ' ', text))


def in_path(name):
    return name.replace('->', '- >')


def covered(spans, start, end):
    """How much of [start, end] at least one of the spans covers."""
    total, reached = 0, start
    for a, b in sorted(spans):
        if b > reached and a < end:
            total += min(b, end) - max(a, reached)
            reached = min(b, end)
    return total


def segments(cuts, start, end):
    cuts = sorted({start, end, *(c for c in cuts if start < c < end)})
    return zip(cuts, cuts[1:])


class Model:
    def __init__(self, path):
        self.db = sqlite3.connect(f'file:{path}?mode=ro&immutable=1', uri=True)
        self.db.text_factory = lambda b: b.decode('utf-8', 'replace')
        self.tables = {name for name, in self.db.execute("select name from sqlite_master where type = 'table'")}
        self.strings = {r.id: r.value for r in self.rows('StringIds')}
        self.values, self.events, self.inner = collections.defaultdict(Fraction), [], set()
        self.load()
        self.find_paths()
        if self.mode == 'plain':
            self.plain_values()
        else:
            self.region_values()
            self.call_values()
            self.gpu_values()
            self.idle_values()
        self.other_values()
        self.make_events()
        self.db.close()

    def rows(self, table):
        if table not in self.tables:
            return []
        cursor = self.db.execute(f'select * from "{table}" order by rowid')
        names = [d[0] for d in cursor.description]
        rows = [Row(names, values) for values in cursor]
        return [r for r in rows if 'start' not in names or r.eventType in (33, 39, 75, 76) or isinstance(r.start, int) and isinstance(r.end, (int, type(None)))]

    def text(self, number):
        text = self.strings.get(number)
        return f'[string {number}]' if text is None else fit(text)

    # ---- what there is

    def load(self):
        self.calls = []
        numbered = {}
        for c in self.rows('CUPTI_ACTIVITY_KIND_RUNTIME'):
            c.name, c.place, c.activities = self.text(c.nameId), thread_of(c.globalTid), []
            key = process_of(c.globalTid), c.correlationId
            if not c.correlationId or key not in numbered:
                self.calls.append(c)
                if c.correlationId:
                    numbered[key] = len(self.calls) - 1
            elif c.callchainId is not None and self.calls[numbered[key]].callchainId is None:
                self.calls[numbered[key]] = c
        self.devices = self.threads_of_devices()
        load = lambda kind, table: [self.activity(kind, r) for r in self.rows('CUPTI_ACTIVITY_KIND_' + table)]
        self.kernels, self.copies, self.sets = load('kernel', 'KERNEL'), load('memcpy', 'MEMCPY'), load('memset', 'MEMSET')
        self.graphs, self.syncs = load('graph', 'GRAPH_TRACE'), load('sync', 'SYNCHRONIZATION')
        self.gpu = self.kernels + self.copies + self.sets + self.graphs
        for a in self.gpu + self.syncs:
            a.call = self.call_of(a)
            if a.call:
                a.call.activities.append(a)
        enum = {r.id: r.name.replace('CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_', '') for r in self.rows('ENUM_CUPTI_SYNC_TYPE')}
        for s in self.syncs:
            by_call = next((SYNCS[n] for word, n in SYNC_CALLS if s.call and word in s.call.name), None)
            s.name = enum.get(s.syncType) or by_call or (SYNCS[s.syncType] if 0 <= s.syncType < len(SYNCS) else f'UNKNOWN_SYNC_TYPE_{s.syncType}')
        self.load_ranges()

    def activity(self, kind, a):
        a.kind = kind
        a.place = 'stream', None if a.globalPid is None else pid_of(a.globalPid), a.deviceId, a.contextId, a.streamId
        if kind == 'kernel':
            a.name = self.text(a.shortName)
            threads = a.gridX * a.gridY * a.gridZ * a.blockX * a.blockY * a.blockZ
            a.threads = min(threads, self.devices.get(a.deviceId, threads))
        elif kind == 'memcpy':
            a.name = COPIES[a.copyKind] if 0 <= a.copyKind < len(COPIES) else f'UNKNOWN_COPY_KIND_{a.copyKind}'
        elif kind == 'memset':
            a.name = f'MEMSET {a.value}'
        elif kind == 'graph':
            a.name = f'GRAPH {a.graphId}'
        return a

    def threads_of_devices(self):
        new = {r.id: r.smCount * r.threadsPerWarp * r.maxWarpsPerSm for r in self.rows('TARGET_INFO_GPU') if r.smCount is not None and r.computeMajor}
        old = {r.deviceId: r.numMultiprocessors * r.numThreadsPerWarp * r.maxWarpsPerMultiprocessor for r in self.rows('TARGET_INFO_CUDA_GPU') if r.computeCapabilityMajor}
        return new or old

    def call_of(self, a):
        if not a.correlationId:
            return None
        return next((c for c in self.calls if c.correlationId == a.correlationId and (a.globalPid is None or process_of(c.globalTid) == process_of(a.globalPid))), None)

    def load_ranges(self):
        rows = self.rows('NVTX_EVENTS')
        named = [r for r in rows if r.text is not None or r.textId is not None]
        for r in named:
            r.stored = r.text if r.text is not None else self.strings.get(r.textId, f'[string {r.textId}]')
        self.domains = {(process_of(r.globalTid), r.domainId): r.stored for r in reversed(named) if r.eventType == 75}
        self.symbols = self.symbol_table()
        self.ranges = [r for r in named if r.eventType in (34, 59, 60, 70, 71)]
        for r in self.ranges:
            r.place = thread_of(r.globalTid)
            r.names = self.decoded(r.stored)
            r.name = '->'.join(r.names) if r.stored.startswith('\x1f') else fit(r.stored)
            if r.eventType == 59 and self.domains.get((process_of(r.globalTid), r.domainId)) == EXTRA_PROF:
                r.path, r.is_region = r.names, r.end is not None

    def symbol_table(self):
        ids = {text: number for number, text in self.strings.items()}
        first, last = ids.get('EXTRA_PROF_SYMBOLS'), ids.get('EXTRA_PROF_SYMBOLS_END')
        if first is None or last is None:
            return {}
        pieces = [text.split('\x1f', 2) for number, text in self.strings.items() if first <= number <= last]
        return {p[1]: in_path(fit(p[2])) for p in pieces if len(p) == 3 and p[0] == 'EP'}

    def decoded(self, text):
        if text.startswith('\x1f'):
            return tuple(self.symbols.get(number, f'[0x{number}]') for number in text[1:].split('\x1f'))
        return tuple(fit(text).split('->'))

    # ---- call paths

    def find_paths(self):
        chained = [c for c in self.calls if c.callchainId is not None]
        if EXTRA_PROF in self.domains.values():
            self.mode = 'ranges'
        elif 'NVTX_EVENTS' not in self.tables and 'CUDA_CALLCHAINS' in self.tables and chained:
            self.mode = 'chains'
        elif not {'NVTX_EVENTS', 'CUDA_CALLCHAINS'} & self.tables and 'EXTRAP_RESOLVED_CALLPATHS' in self.tables:
            self.mode = 'resolved'
        else:
            self.mode = 'plain'
        for c in self.calls:
            c.name_in_path = (in_path(c.name),)
        getattr(self, 'paths_of_' + self.mode)()

    def paths_of_ranges(self):
        regions = sorted((r for r in self.ranges if r.is_region), key=lambda r: (r.start, -r.end))
        for c in self.calls:
            around = [r for r in regions if r.globalTid == c.globalTid and r.start < c.start and c.start + c.length < r.end]
            c.range = around[-1] if around else None
            c.path = (c.range.names if c.range else (UNCORRELATED,)) + c.name_in_path

    def paths_of_chains(self):
        frames = self.rows('CUDA_CALLCHAINS')
        offset = min(f.id for f in frames) - min(c.callchainId for c in self.calls if c.callchainId is not None)
        for c in self.calls:
            chain = sorted((f for f in frames if c.callchainId is not None and f.id == c.callchainId + offset and f.unresolved is None), key=lambda f: -f.stackDepth)
            c.path = (tuple(in_path(self.text(f.symbol)) for f in chain) if c.callchainId is not None else (UNCORRELATED,)) + c.name_in_path

    def paths_of_resolved(self):
        paths = {r.correlationId: fit(r.callpath).split('->') for r in reversed(self.rows('EXTRAP_RESOLVED_CALLPATHS')) if r.correlationId}
        for c in self.calls:
            c.path = tuple(paths[c.correlationId]) if c.correlationId in paths else (UNCORRELATED,) + c.name_in_path

    def paths_of_plain(self):
        nest = [r for r in self.ranges if r.eventType in (59, 70) and r.end is not None and r.end >= r.start]
        nest.sort(key=lambda r: (r.start, -r.end))
        for i, r in enumerate(nest):
            r.parent = self.innermost(nest[:i], r)
            r.path = (r.parent.path if r.parent else self.root_of(r.globalTid)) + (in_path(r.name),)
        for c in self.calls:
            c.range = self.innermost(nest, c)
            c.path = (c.range.path if c.range else self.root_of(c.globalTid)) + c.name_in_path

    @staticmethod
    def innermost(nest, x):
        """nest is in order of starts, and of ends descending."""
        around = [r for r in nest if r.globalTid == x.globalTid and r.start <= x.start and x.start + x.length <= r.end]
        return around[-1] if around else None

    @staticmethod
    def root_of(tid):
        return f'process {pid_of(tid)}', f'thread {tid & 0xFFFFFF}'

    # ---- values with call paths

    def add(self, path, metric, place, value):
        self.values[path, metric, place] += value

    def region_values(self):
        regions = [r for r in self.ranges if r.is_region]
        own = collections.defaultdict(int)
        for r in regions:
            own[r.path, r.place] += r.length
            self.add(r.path, 'visits', r.place, 1)
        inclusive = dict(own)
        for (path, place), time in inclusive.items():
            if (path[:-1], place) in inclusive:
                own[path[:-1], place] -= time
        for c in self.calls:
            if self.mode == 'ranges' and c.range:
                own[c.range.path, c.place] -= c.length
        self.exclusive = {key: max(0, time) for key, time in own.items()}
        for (path, place), time in self.exclusive.items():
            if time:
                self.add(path, 'time', place, time)

    def busy(self, *lists):
        return [(a.start, a.end) for xs in lists for a in xs if a.length]

    def call_values(self):
        everything = self.busy(self.gpu)
        for c in self.calls:
            kernels, syncs = [a for a in c.activities if a.kind == 'kernel'], [a for a in c.activities if a.kind == 'sync']
            c.kernels = kernels
            others = [a for a in c.activities if a.kind in ('memcpy', 'memset', 'graph')]
            is_allocation = c.name.startswith(ALLOCATIONS)
            c.at, time = c.path, c.length
            if is_allocation and not re.search('host|async', c.name, re.I):
                overlap = covered(everything, c.start, c.start + c.length)
                time -= overlap
                self.overlap(c.path, c.place, overlap)
            elif is_allocation:
                pass
            elif kernels:
                c.at = c.path + (in_path(kernels[0].name),)
            elif others:
                time = max(0, time - sum(a.length for a in others if self.blocks(a)))
            elif syncs:
                c.at = c.path + (syncs[0].name,)
                for s in syncs:
                    overlap = covered(everything, s.start, s.start + s.length)
                    time -= overlap
                    self.overlap(c.at, c.place, overlap)
                    self.add(c.at + ('WAIT',), 'time', c.place, s.length)
            self.add(c.at, 'time', c.place, time)
            self.add(c.at, 'visits', c.place, 1)
        for s in self.syncs:
            if not s.call:
                self.add((UNCORRELATED, s.name, 'WAIT'), 'time', s.place, s.length)

    def overlap(self, path, place, time):
        if time:
            self.add(path + ('OVERLAP',), 'time', place, time)

    def blocks(self, a):
        """Whether the host waits for this copy or memset."""
        pageable = a.memKind == 0 if a.kind == 'memset' else a.kind == 'memcpy' and 0 in (a.srcKind, a.dstKind)
        return a.kind != 'graph' and bool(pageable or a.call and 'Async' not in a.call.name)

    def gpu_path(self, a):
        above = a.call.path if a.call else (UNCORRELATED,)
        name = in_path(a.name)
        if a.kind == 'kernel':
            return above + ((name, 'GPU ' + name) if self.mode != 'plain' else ('GPU ' + name,))
        if a.kind == 'memset':
            name = 'GPU MEMSET'
        return above + (('BLOCKING ' if self.mode != 'plain' and self.blocks(a) else '') + name,)

    def gpu_values(self):
        for a in self.gpu:
            a.path = self.gpu_path(a)
            overlap = getattr(self, 'overlap_of_' + a.kind)(a) if a.length else 0
            self.add(a.path, 'time', a.place, a.length - overlap)
            self.add(a.path, 'gpu_time', a.place, a.length)
            self.add(a.path, 'visits', a.place, 1)
            self.overlap(a.path, a.place, overlap)
            if a.bytes is not None:
                self.add(a.path, 'bytes_transferred', a.place, a.bytes)

    def overlap_of_kernel(self, kernel):
        others = [k for k in self.kernels if k.deviceId == kernel.deviceId and k.length]
        total = Fraction(0)
        for a, b in segments([t for k in others for t in (k.start, k.end)], kernel.start, kernel.end):
            threads = sum(k.threads for k in others if k.start <= a and b <= k.end)
            if threads:
                total += Fraction((b - a) * (threads - kernel.threads), threads)
        return total

    def shared(self, x, xs, cover):
        cuts = [t for o in xs if o.length for t in (o.start, o.end)] + [t for span in cover for t in span]
        total = Fraction(0)
        for a, b in segments(cuts, x.start, x.end):
            n = sum(o.start <= a and b <= o.end for o in xs if o.length)
            total += b - a if covered(cover, a, b) else Fraction((b - a) * (n - 1), n)
        return total

    def overlap_of_memcpy(self, copy):
        return self.shared(copy, self.copies, self.busy(self.kernels, self.sets))

    def overlap_of_memset(self, memset):
        return self.shared(memset, self.sets, self.busy(self.kernels))

    def overlap_of_graph(self, _):
        return 0

    def idle_values(self):
        """Of a region: its time without what kernels cover while it is the one with the latest start. Of all threads together: the place is None."""
        regions = sorted((r for r in self.ranges if r.is_region and r.length), key=lambda r: (r.start, -r.end))
        kernels = self.busy(self.kernels)
        own, busy = collections.defaultdict(int), collections.defaultdict(int)
        for (path, _), time in self.exclusive.items():
            own[path] += time
        times = sorted({t for r in regions for t in (r.start, r.end)})
        for a, b in zip(times, times[1:]):
            around = [r for r in regions if r.start <= a and b <= r.end]
            if around:
                busy[around[-1].path] += covered(kernels, a, b)
        for path, time in busy.items():
            if 0 < time < own[path]:
                self.add(path + ('GPU IDLE',), 'time', None, own[path] - time)

    # ---- values of plain exports, and of what stands beside call paths

    def plain_values(self):
        own = collections.defaultdict(int)
        for r in self.ranges:
            if r.path:
                own[r.path, r.place] += r.length
                self.add(r.path, 'visits', r.place, 1)
                if r.parent:
                    own[r.parent.path, r.place] -= r.length
        for c in self.calls:
            c.at = c.path
            own[c.path, c.place] += c.length
            self.add(c.path, 'visits', c.place, 1)
            if c.range:
                own[c.range.path, c.place] -= c.length
        for (path, place), time in own.items():
            self.add(path, 'time', place, time)
        for a in self.gpu:
            a.path = self.gpu_path(a)
            self.add(a.path, 'gpu_time', a.place, a.length)
            self.add(a.path, 'visits', a.place, 1)
            if a.bytes is not None:
                self.add(a.path, 'bytes', a.place, a.bytes)

    def other_values(self):
        self.osrt = self.rows('OSRT_API')
        own = collections.defaultdict(int)
        for o in sorted(self.osrt, key=lambda o: (o.start, -o.start - o.length)):
            o.name, o.place = self.text(o.nameId), thread_of(o.globalTid)
            around = [p for p in self.osrt if p.path and p.globalTid == o.globalTid and p.nestingLevel < o.nestingLevel and p.start <= o.start and o.start + o.length <= p.start + p.length]
            above = max(around, key=lambda p: (p.start, p.nestingLevel), default=None)
            o.path = (above.path if above else ('[OS runtime]', f'thread {o.place[2]}')) + (in_path(o.name),)
            own[o.path, o.place] += o.length
            self.add(o.path, 'visits', o.place, 1)
            if above:
                own[above.path, o.place] -= o.length
        for (path, place), time in own.items():
            self.add(path, 'time', place, max(0, time))
        frames = self.rows('SAMPLING_CALLCHAINS')
        self.samples = self.rows('COMPOSITE_EVENTS')
        for s in self.samples:
            s.frames = [self.text(f.symbol) for f in sorted((f for f in frames if f.id == s.id and f.unresolved is None), key=lambda f: -f.stackDepth)]
            s.path, s.place = ('[Samples]', *map(in_path, s.frames)), thread_of(s.globalTid)
            self.add(s.path, 'samples', s.place, 1)

    # ---- events

    def add_event(self, kind, row, place, path, **attributes):
        """Attributes of None are none."""
        end = None if kind == 'sample' or row.eventType == 34 else row.end
        known = {'correlation_id': row.correlationId or None if kind != 'osrt' else None, **attributes}
        self.events.append(Event(kind, row.name, row.start, end, place, path, tuple(sorted((k, v) for k, v in known.items() if v is not None))))

    def make_events(self):
        for a in self.gpu:
            self.add_event(a.kind, a, a.place, a.path, **(self.of_kernel(a) if a.kind == 'kernel' else self.of_memory(a)))
        for s in self.syncs:
            path = (s.call.path if s.call.kernels else s.call.at) if s.call else (UNCORRELATED, s.name)
            self.add_event('sync', s, s.call.place if s.call else s.place, path)
        for c in self.calls:
            self.add_event('api', c, c.place, c.at, result=c.returnValue or None)
        for r in self.ranges:
            domain = self.domains.get((process_of(r.globalTid), r.domainId))
            self.add_event('nvtx', r, r.place, r.path, domain=domain, style=STYLES[r.eventType], unfinished=1 if r.end is None and r.eventType != 34 else None)
        for o in self.osrt:
            self.add_event('osrt', o, o.place, o.path)
        for s in self.samples:
            s.name = s.frames[-1] if s.frames else ''
            self.add_event('sample', s, s.place, s.path)

    def of_kernel(self, k):
        names = {key: self.text(number) for key, number in (('demangled_name', k.demangledName), ('mangled_name', k.mangledName)) if number is not None}
        return {'grid': f'{k.gridX},{k.gridY},{k.gridZ}', 'block': f'{k.blockX},{k.blockY},{k.blockZ}', 'registers': k.registersPerThread, 'static_shared_memory': k.staticSharedMemory,
                'dynamic_shared_memory': k.dynamicSharedMemory, **{key: name for key, name in names.items() if name != k.name}}

    def of_memory(self, a):
        kinds = {'src_kind': a.srcKind, 'dst_kind': a.dstKind, 'mem_kind': a.memKind}
        return {'bytes': a.bytes, 'blocking': 1 if self.blocks(a) else None, **{key: MEMORY[n] for key, n in kinds.items() if n is not None}}
