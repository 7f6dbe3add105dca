"""Small exports of Nsight Systems for tests, made with Python's sqlite3.

    x = Export()
    x.region('main->solve', 0, 1000)                        # a range of Extra-Prof's, in thread 1 of process 1000
    x.call('cudaLaunchKernel_v7000', 10, 30)
    x.kernel('saxpy', 40, 90, grid=(16, 1, 1))              # belongs to the last call
    x.write(path)

Times are nanoseconds. Calls are numbered by their correlation id from 1; an activity belongs to the last call unless `correlation` says another (0: to none, None: NULL).
Tables are made as nsys makes them: those that have rows, and those that table() asks for. row() adds any row to any table, with any values; without() takes columns away, drop() a table."""
import re
import sqlite3

OLD, SCHEMA_2_9_1, CURRENT = 'old', '2.9.1', 'current'
FLAVOURS = (OLD, SCHEMA_2_9_1, CURRENT)

EXTRA_PROF = 'de.tu-darmstadt.parallel.extra_prof'
PUSH_POP, START_END, MARK, DOMAIN, TEXT_PUSH_POP, TEXT_START_END = 59, 60, 34, 75, 70, 71
PAGEABLE, PINNED, DEVICE, ARRAY, MANAGED = range(5)
TO_DEVICE, TO_HOST, ON_DEVICE = 1, 2, 8
UNUSED = 4294967295

RUNTIME, KERNEL, MEMCPY, MEMSET = ('CUPTI_ACTIVITY_KIND_' + x for x in ('RUNTIME', 'KERNEL', 'MEMCPY', 'MEMSET'))
SYNCHRONIZATION, GRAPH_TRACE = 'CUPTI_ACTIVITY_KIND_SYNCHRONIZATION', 'CUPTI_ACTIVITY_KIND_GRAPH_TRACE'

_GPU = 'start end deviceId contextId streamId correlationId globalPid '
_CHAIN = 'id symbol module unresolved originalIP stackDepth'
# Columns of all flavours; names ending in ! are texts, in % reals, those in () are there in some flavours only.
_COLUMNS = {
    'StringIds': 'id value!',
    RUNTIME: 'start end eventClass globalTid correlationId nameId returnValue callchainId',
    KERNEL: _GPU + 'demangledName shortName (2.9.1,current)mangledName launchType cacheConfig registersPerThread gridX gridY gridZ blockX blockY blockZ staticSharedMemory dynamicSharedMemory '
    'localMemoryPerThread localMemoryTotal gridId sharedMemoryExecuted (2.9.1,current)graphNodeId sharedMemoryLimitConfig (current)graphId (current)greenContextId (current)clusterX',
    MEMCPY: _GPU + 'bytes copyKind deprecatedSrcId srcKind dstKind srcDeviceId srcContextId dstDeviceId dstContextId (2.9.1,current)graphNodeId (current)migrationCause (current)virtualAddress',
    MEMSET: _GPU + 'value bytes (2.9.1,current)graphNodeId (2.9.1,current)memKind',
    SYNCHRONIZATION: _GPU + 'syncType eventId (current)eventSyncId',
    GRAPH_TRACE: _GPU + 'graphId graphExecId',
    'CUDA_CALLCHAINS': _CHAIN,
    'OSRT_CALLCHAINS': _CHAIN + ' kernelMode thumbCode specialEntry unwindMethod',
    'SAMPLING_CALLCHAINS': _CHAIN + ' kernelMode thumbCode specialEntry unwindMethod',
    'COMPOSITE_EVENTS': 'id start cpu threadState globalTid cpuCycles',
    'OSRT_API': 'start end eventClass globalTid correlationId nameId returnValue nestingLevel callchainId',
    'NVTX_EVENTS': 'start end eventType rangeId category color text! globalTid endGlobalTid textId domainId uint64Value int64Value doubleValue% uint32Value int32Value floatValue% jsonTextId jsonText! '
    '(current)binaryData!',
    'EXPORT_META_DATA': 'name! value!',
    'TARGET_INFO_GPU': '(2.9.1,current)vmId (2.9.1,current)id name! busLocation! (2.9.1,current)smCount (2.9.1,current)threadsPerWarp (2.9.1,current)maxWarpsPerSm (2.9.1,current)computeMajor '
    '(2.9.1,current)computeMinor (current)totalMemory (current)uuid!',
    'TARGET_INFO_CUDA_GPU': 'deviceId pid name! numMultiprocessors numThreadsPerWarp maxWarpsPerMultiprocessor coreClockRate computeCapabilityMajor computeCapabilityMinor',
    'PROCESSES': 'globalPid pid name!',
    'ThreadNames': 'nameId priority globalTid',
    'TARGET_INFO_SESSION_START_TIME': 'utcEpochNs utcTime! localTime!',
    'ANALYSIS_DETAILS': 'globalVid duration startTime stopTime',
}
_ENUMS = {
    'ENUM_CUPTI_SYNC_TYPE': ['CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_' + x for x in ('UNKNOWN', 'EVENT_SYNCHRONIZE', 'STREAM_WAIT_EVENT', 'STREAM_SYNCHRONIZE', 'CONTEXT_SYNCHRONIZE')],
    'ENUM_CUDA_MEMCPY_OPER': ['CUDA_MEMCPY_KIND_' + x for x in ('UNKNOWN', 'HTOD', 'DTOH', 'HTOA', 'ATOH', 'ATOA', 'ATOD', 'DTOA', 'DTOD', 'HTOH', 'PTOP')],
    'ENUM_CUDA_MEM_KIND': ['CUDA_MEMOPR_MEMORY_KIND_' + x for x in ('PAGEABLE', 'PINNED', 'DEVICE', 'ARRAY', 'MANAGED', 'DEVICE_STATIC', 'MANAGED_STATIC')],
}
_LAST = object()


class RawText(bytes):
    """A text of these bytes, UTF-8 or not."""


def global_tid(pid=1000, tid=1, machine=1):
    return _signed(machine << 48 | pid << 24 | tid)


def global_pid(of):
    """The process of a globalTid."""
    return _signed(of & 0xFFFFFFFFFF000000)


def _signed(n):
    return n - 2**64 if n >= 2**63 else n


class Export:
    def __init__(self, flavour=SCHEMA_2_9_1):
        self.flavour = flavour
        self.columns, self.rows, self.dropped, self.statements = {}, {}, set(), []
        self.strings, self.symbols, self.devices, self.domains = {}, {}, {}, {}
        self.last = 0                           # the correlation id of the last call
        self.thread = global_tid()              # where calls and ranges are unless they say it
        self.chains = {}                        # how many of each table
        if flavour != OLD:
            for name, value in (('EXPORT_PRODUCT_VERSION', '2022.1.1' if flavour == SCHEMA_2_9_1 else '2025.1.1'), ('EXPORT_SCHEMA_VERSION', '2.9.1' if flavour == SCHEMA_2_9_1 else '3.16.0')):
                self.row('EXPORT_META_DATA', name=name, value=value)
        if flavour == CURRENT:
            for name, labels in _ENUMS.items():
                for i, label in enumerate(labels):
                    self.row(name, id=i, name=label, label=re.sub('.*_(TYPE|KIND)_', '', label).replace('_', ' ').capitalize())

    # ---- tables

    def table(self, name):
        """Makes it, also if it has no rows."""
        if name not in self.columns:
            words = [re.fullmatch(r'(?:\((.*)\))?(.*)', w).groups() for w in _COLUMNS.get(name, '').split()]
            self.columns[name] = [c for where, c in words if where is None or self.flavour in where.split(',')]
            self.rows[name] = []
        return [c.rstrip('!%') for c in self.columns[name]]

    def row(self, table, **values):
        """A row as it is; columns that the table lacks are new ones."""
        have = self.table(table)
        self.columns[table] += [c + '!' * isinstance(v, (str, RawText)) for c, v in values.items() if c not in have]
        self.rows[table].append(values)
        return values

    def without(self, table, *columns):
        self.table(table)
        self.columns[table] = [c for c in self.columns[table] if c.rstrip('!%') not in columns]
        for row in self.rows[table]:
            for c in columns:
                row.pop(c, None)

    def drop(self, *tables):
        self.dropped.update(tables)

    def sql(self, statement):
        """Run once all rows are there: many rows at once, damage."""
        self.statements.append(statement)

    def _put(self, table, **values):
        have = self.table(table)
        return self.row(table, **{c: v for c, v in values.items() if c in have})

    def string(self, text):
        """The id of a text. A number is an id that has none."""
        return text if text is None or isinstance(text, int) else self.strings.setdefault(text, len(self.strings) + 1)

    # ---- the host

    def call(self, name, start, end, correlation=_LAST, thread=None, chain=None, result=0):
        """A call of the CUDA API; gives its correlation id. chain: of chain(). The old flavour has calls with chains twice."""
        if correlation is _LAST:
            correlation = self.last + 1
        self.last = correlation if correlation is not None else self.last
        row = dict(start=start, end=end, globalTid=self._thread(thread), correlationId=correlation, returnValue=result)
        if chain is not None and self.flavour == OLD:
            self._put(RUNTIME, eventClass=67, nameId=self.string(re.sub(r'_v\d+$', '', name) if isinstance(name, str) else name), callchainId=self._link(chain), **row)
            chain = None
        self._put(RUNTIME, eventClass=1 if re.match('cu(?!da)', str(name)) else 0, nameId=self.string(name), callchainId=self._link(chain), **row)
        return correlation

    def _link(self, chain):
        return chain if chain is None or self.flavour == CURRENT else chain - 1

    def chain(self, frames, unresolved=(), table='CUDA_CALLCHAINS'):
        """frames: outermost first; unresolved: those of them that are. Gives its id."""
        number = self.chains[table] = self.chains.get(table, 0) + 1
        for depth, symbol in enumerate(reversed(frames)):
            self._put(table, id=number, symbol=self.string(symbol), module=self.string('app'), unresolved=1 if symbol in unresolved else None, originalIP=4096 + depth, stackDepth=depth)
        return number

    def osrt(self, name, start, end, thread=None, nesting=0):
        self._put('OSRT_API', start=start, end=end, eventClass=27, globalTid=self._thread(thread), correlationId=0, nameId=self.string(name), returnValue=0, nestingLevel=nesting)

    def sample(self, time, frames, thread=None, cpu=0):
        self._put('COMPOSITE_EVENTS', id=self.chain(frames, table='SAMPLING_CALLCHAINS'), start=time, cpu=cpu, threadState=1, globalTid=self._thread(thread), cpuCycles=1000)

    def name_process(self, thread, name):
        self._put('PROCESSES', globalPid=global_pid(thread), pid=thread >> 24 & 0xFFFFFF, name=name)

    def name_thread(self, thread, name):
        self._put('ThreadNames', nameId=self.string(name), priority=0, globalTid=thread)

    def _thread(self, thread):
        return self.thread if thread is None else thread

    # ---- NVTX

    def domain(self, name, number=None, thread=None):
        """Registers it in the thread's process; gives its number."""
        number = len(self.domains) + 1 if number is None else number
        self.domains[name] = number
        self._nvtx(name, 0, None, DOMAIN, self._thread(thread), number)
        return number

    def range(self, text, start, end, thread=None, domain=0, kind=PUSH_POP, by_id=None, **more):
        """end None: never closed. by_id: the text is in StringIds (usual in the current flavour)."""
        self._nvtx(text, start, end, kind, self._thread(thread), domain, by_id, **more)

    def mark(self, text, time, thread=None, domain=0):
        self._nvtx(text, time, None, MARK, self._thread(thread), domain)

    def region(self, path, start, end, thread=None, **more):
        """A range of Extra-Prof's with a plain call path, "main->solve"."""
        self.range(path, start, end, thread, self._extra_prof(), uint32Value=path.count('->'), **more)

    def encoded(self, names, start, end, thread=None, **more):
        """A range of Extra-Prof's with an encoded call path. A name gets a symbol; a number has none."""
        for name in names:
            if isinstance(name, str):
                self.symbols.setdefault(name, 7 + 131 * len(self.symbols))
        text = ''.join('\x1f' + base_36(self.symbols.get(n, n)) for n in names)
        self.range(text, start, end, thread, self._extra_prof(), uint32Value=len(names) - 1, **more)

    def _extra_prof(self):
        return self.domains[EXTRA_PROF] if EXTRA_PROF in self.domains else self.domain(EXTRA_PROF)

    def _nvtx(self, text, start, end, kind, thread, domain, by_id=None, **more):
        by_id = self.flavour == CURRENT if by_id is None else by_id
        self._put('NVTX_EVENTS', start=start, end=end, eventType=kind, text=None if by_id else text, textId=self.string(text) if by_id else None, globalTid=thread, domainId=domain, **more)

    # ---- GPUs

    def device(self, number=0, processors=10, warps=4, lanes=32, name='Made GPU', major=8, pid=1000):
        """One that runs processors * warps * lanes threads at once. Without any, and without no_devices(), there is device 0."""
        self.devices[number] = dict(processors=processors, warps=warps, lanes=lanes, name=name, major=major, pid=pid)

    def no_devices(self):
        self.devices = None

    def kernel(self, name, start, end, correlation=_LAST, grid=(1, 1, 1), block=(32, 1, 1), demangled=None, mangled=None, registers=16, static=0, dynamic=0, **place):
        return self._activity(KERNEL, start, end, correlation, place, shortName=self.string(name), demangledName=self.string(demangled or (name + '(int)' if isinstance(name, str) else name)),
                              mangledName=self.string(mangled or name), registersPerThread=registers, staticSharedMemory=static, dynamicSharedMemory=dynamic, sharedMemoryExecuted=static + dynamic,
                              gridX=grid[0], gridY=grid[1], gridZ=grid[2], blockX=block[0], blockY=block[1], blockZ=block[2], gridId=1, launchType=0, cacheConfig=0)

    def copy(self, kind, start, end, bytes=0, source=DEVICE, target=DEVICE, correlation=_LAST, **place):
        return self._activity(MEMCPY, start, end, correlation, place, bytes=bytes, copyKind=kind, srcKind=source, dstKind=target)

    def memset(self, value, start, end, bytes=0, memory=DEVICE, correlation=_LAST, **place):
        return self._activity(MEMSET, start, end, correlation, place, value=value, bytes=bytes, memKind=memory)

    def sync(self, kind, start, end, correlation=_LAST, event=UNUSED, **place):
        return self._activity(SYNCHRONIZATION, start, end, correlation, place, syncType=kind, eventId=event)

    def graph(self, number, start, end, correlation=_LAST, **place):
        return self._activity(GRAPH_TRACE, start, end, correlation, place, graphId=number, graphExecId=number + 1)

    def launch(self, name, call, kernel, api='cudaLaunchKernel_v7000', thread=None, **more):
        """A call and its kernel: call and kernel are (start, end)."""
        number = self.call(api, *call, thread=thread)
        self.kernel(name, *kernel, process=global_pid(self._thread(thread)), **more)
        return number

    def _activity(self, table, start, end, correlation, place, **more):
        """place: device, context, stream, process (a globalPid; None: NULL)."""
        unknown = set(place) - {'device', 'context', 'stream', 'process'}
        assert not unknown, unknown
        return self._put(table, start=start, end=end, correlationId=self.last if correlation is _LAST else correlation, deviceId=place.get('device', 0), contextId=place.get('context', 1),
                         streamId=place.get('stream', 7), globalPid=place.get('process', global_pid(self.thread)), **more)

    def _describe_devices(self):
        if self.devices == {}:
            self.device()
        for number, d in (self.devices or {}).items():
            self._put('TARGET_INFO_GPU', vmId=0, id=number, name=d['name'], busLocation=f'0000:{number:02x}:00.0', smCount=d['processors'], threadsPerWarp=d['lanes'], maxWarpsPerSm=d['warps'],
                      computeMajor=d['major'], computeMinor=0)
            if self.flavour == OLD:
                self._put('TARGET_INFO_CUDA_GPU', deviceId=number, pid=d['pid'], name=d['name'], numMultiprocessors=d['processors'], numThreadsPerWarp=d['lanes'], maxWarpsPerMultiprocessor=d['warps'],
                          computeCapabilityMajor=d['major'], computeCapabilityMinor=0)

    # ---- the file

    def write(self, path, page_size=4096):
        """Once only."""
        self._describe_devices()
        self._write_strings()
        db = sqlite3.connect(path, isolation_level=None)
        db.execute(f'pragma page_size = {page_size}')
        db.execute('pragma journal_mode = off')
        db.execute('begin')
        for table, columns in self.columns.items():
            if table in self.dropped:
                continue
            names = [c.rstrip('!%') for c in columns]
            types = [f'"{n}" ' + {'!': 'TEXT', '%': 'REAL'}.get(c[-1], 'INTEGER') for n, c in zip(names, columns)]
            if table == 'StringIds':
                types[0] += ' NOT NULL PRIMARY KEY'
            db.execute(f'create table "{table}" ({", ".join(types)})')
            for row in self.rows[table]:
                values = [row.get(n) for n in names]
                places = ', '.join('cast(? as text)' if isinstance(v, RawText) else '?' for v in values)
                db.execute(f'insert into "{table}" values ({places})', [bytes(v) if isinstance(v, RawText) else v for v in values])
        for statement in self.statements:
            db.execute(statement)
        db.execute('commit')
        db.close()
        return path

    def _write_strings(self):
        self.table('StringIds')
        for name, number in self.strings.items():
            self.row('StringIds', id=number, value=name)
        if self.symbols:
            table = ['EXTRA_PROF_SYMBOLS', *(f'EP\x1f{base_36(n)}\x1f{name}' for name, n in self.symbols.items()), 'EXTRA_PROF_SYMBOLS_END']
            for i, text in enumerate(table):
                self.row('StringIds', id=len(self.strings) + 1 + i, value=text)


def base_36(n):
    digits = ''
    while True:
        n, d = divmod(n, 36)
        digits = '0123456789abcdefghijklmnopqrstuvwxyz'[d] + digits
        if n == 0:
            return digits
