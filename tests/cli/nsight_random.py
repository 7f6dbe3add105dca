"""Random exports of Nsight Systems, all modes and schemas, with what real and broken ones have: overlaps, nested and crossing ranges, lengths of zero and below, correlations that match nothing or several
calls, names that are missing or odd, several processes and devices."""
import random

import nsight_make as make

MODES = ['ranges', 'encoded', 'chains', 'resolved', 'plain', 'bare']
FUNCTIONS = ['main', 'solve', 'f', 'foo', 'a_b', 'g<int, 2>', 'größe', 'op->x', 'F', 'tab\there']
KERNELS = ['saxpy', 'dot', 'k->k', 'saxpy_2', 'größe', 'line\nend']
CALLS = {'launch': ['cudaLaunchKernel_v7000', 'cuLaunchKernel', 'cudaGraphLaunch_v10000'], 'copy': ['cudaMemcpy_v3020', 'cudaMemcpyAsync_v3020', 'cuMemcpyHtoDAsync_v2', 'cudaMemcpyAsync'],
         'set': ['cudaMemset_v3020', 'cudaMemsetAsync_v3020'], 'sync': ['cudaStreamSynchronize_v3020', 'cudaDeviceSynchronize_v3020', 'cuCtxSynchronize', 'cudaEventSynchronize_v3020',
                                                                     'cudaStreamWaitEvent_v3020', 'cudaLaunchHostFunc_v10000'],
         'memory': ['cudaMalloc_v3020', 'cudaFree_v3020', 'cudaMallocHost_v3020', 'cudaHostAlloc_v3020', 'cudaFreeAsync_v11020', 'cudaMallocManaged_v6000'],
         'other': ['cudaEventRecord_v3020', 'cuModuleUnload', 'cudaGetDevice_v3020']}


class Random:
    """x: the nsight_make.Export. sound: without what is broken (times, correlations, names)."""

    def __init__(self, seed, mode=None, sound=None):
        self.r = r = random.Random(seed)
        self.mode = mode or r.choice(MODES)
        self.sound = r.random() < .3 if sound is None else sound
        self.x = make.Export(r.choice(make.FLAVOURS))
        self.base = r.choice([0, 0, 1000, 1_700_000_000_000_000_000])
        self.length = r.choice([20, 60, 1000, 10**7])
        processes = [make.global_tid(r.choice([77, r.randrange(1, 2**24)]), 0, r.choice([0, 1, 300, 0xFF00])) for _ in range(r.choice([1, 1, 1, 2]))]
        self.threads = [process + tid for process in processes for tid in r.sample(range(1, 2**20), r.choice([1, 1, 2, 3]))]
        self.numbers = {}
        self.make_devices()
        if self.mode not in ('bare', 'chains', 'resolved'):
            self.make_ranges()
        for _ in range(r.choice([0, 3, 8, 8, 15, 25])):
            self.make_call()
        self.make_lost()
        for thread in self.threads[:r.choice([0, 0, 3])]:
            self.make_osrt(thread, self.base, self.base + self.length, 0)
        if r.random() < .2:
            for _ in range(4):
                self.x.sample(self.time(), [r.choice(FUNCTIONS) for _ in range(r.randrange(1, 4))], thread=self.thread())
        if self.mode == 'resolved':
            self.make_resolved()
        if self.chance(.03):
            self.x.drop('StringIds')

    def chance(self, p):
        return not self.sound and self.r.random() < p

    # ---- times and places

    def time(self):
        return self.base + self.r.randrange(0, self.length)

    def span(self):
        start = self.time()
        end = start + (self.r.randrange(0, self.length) if self.r.random() < .2 else self.r.randrange(0, max(2, self.length // 6)))
        if self.chance(.03):
            end = self.r.choice([None, max(0, start - self.r.randrange(1, 9))])
        return ('later' if self.chance(.005) else None if self.chance(.005) else start), end

    def thread(self):
        return self.r.choice(self.threads)

    def make_devices(self):
        self.devices = self.r.choice([[0], [0], [0, 1]])
        for d in self.devices:
            self.x.device(d, processors=self.r.choice([1, 2, 10]), warps=self.r.choice([1, 4]))
        if self.chance(.1):
            self.x.no_devices()

    def place(self, thread):
        place = dict(device=self.r.choice(self.devices), stream=self.r.choice([7, 7, 13, 14]), context=self.r.choice([1, 1, 2]), process=make.global_pid(thread))
        if self.chance(.05):
            place['process'] = None
        return place

    # ---- ranges

    def make_ranges(self):
        r, x = self.r, self.x
        x.table('NVTX_EVENTS')
        is_extra_prof = self.mode in ('ranges', 'encoded')
        for process in sorted({make.global_pid(t) for t in self.threads}):
            if is_extra_prof and not (self.numbers and self.chance(.2)):
                x.domain(make.EXTRA_PROF, number=r.choice([1, 1, 3]), thread=process + 1)
                self.numbers[process] = x.domains[make.EXTRA_PROF]
            if r.random() < .5:
                x.domain('lib', number=9, thread=process + 1)
        for thread in self.threads:
            if r.random() < .5 or self.sound:
                self.nested(thread, (), self.base, self.base + self.length, r.choice([0, 1, 2, 3]))
            else:
                for _ in range(r.choice([2, 5, 8])):
                    self.range(thread, tuple(r.choice(FUNCTIONS[:4]) for _ in range(r.randrange(1, 4))), *self.span())
            for _ in range(r.choice([0, 0, 2])):
                x.mark(r.choice(['here', 'there']), self.time(), thread=thread)
            for _ in range(r.choice([0, 0, 2])):
                x.range(r.choice(['phase', 'a->b']), *self.span(), thread=thread, domain=r.choice([0, 9]), kind=r.choice([make.START_END, make.TEXT_PUSH_POP, make.TEXT_START_END]))
            if self.chance(.2):
                x.range('open', self.time(), None, thread=thread, domain=r.choice([0, 9]))

    def nested(self, thread, above, start, end, depth):
        for _ in range(self.r.choice([1, 1, 2, 3])):
            if end - start < 3:
                return
            a = self.r.randrange(start, end - 1)
            b = self.r.randrange(a, end)
            path = above + (self.r.choice(FUNCTIONS),)
            self.range(thread, path, a, b)
            if depth:
                self.nested(thread, path, a, b, depth - 1)
            start = b

    def range(self, thread, path, start, end):
        """Of Extra-Prof, its text is the path; else the last name."""
        r, x = self.r, self.x
        if self.mode not in ('ranges', 'encoded'):
            x.range(path[-1], start, end, thread=thread, domain=r.choice([0, 0, 9]), by_id=r.choice([None, True]))
            return
        x.domains[make.EXTRA_PROF] = self.numbers.get(make.global_pid(thread), 3)
        if self.mode == 'encoded':
            x.encoded([*path, 12345] if self.chance(.05) else path, start, end, thread=thread)
        else:
            x.region('->'.join(p.replace('->', '- >') for p in path), start, end, thread=thread)

    def make_osrt(self, thread, start, end, level):
        while end - start > 3 and self.r.random() < .7:
            a = self.r.randrange(start, end - 1)
            b = self.r.randrange(a, end)
            self.x.osrt(self.r.choice(['poll', 'read', 'pthread_cond_wait']), a, b, thread=thread, nesting=level)
            self.make_osrt(thread, a, b, level + 1)
            start = b + 1

    # ---- calls

    def make_call(self):
        r, x = self.r, self.x
        kind, thread = r.choice(['launch'] * 4 + list(CALLS)), self.thread()
        start, end = self.span()
        number = x.last + 1
        if self.chance(.05):
            number = r.choice([0, 0, r.randrange(1, 30)])
        if len({make.global_pid(t) for t in self.threads}) > 1 and r.random() < .3:
            number = r.randrange(1, 6)                         # that of a call of another process, perhaps of one of this
        chain = None
        if self.mode == 'chains' and (r.random() < .8 or not x.chains):
            chain = x.chain([r.choice(FUNCTIONS) for _ in range(r.randrange(1, 4))], unresolved=r.choice([(), (), ('foo',)]))
        last = x.last
        x.call(900 + r.randrange(3) if self.chance(.03) else r.choice(CALLS[kind]), start, end, correlation=number, thread=thread, chain=chain, result=r.choice([0, 0, 0, 2]))
        x.last = max(x.last, last)
        self.activities(kind, number, thread)
        if self.chance(.1):
            self.activities(r.choice(list(CALLS)), number, thread)

    def activities(self, kind, number, thread):
        r = self.r
        for _ in range(r.choice([0, 1, 1, 1, 2, 3]) if not self.sound else 1):
            getattr(self, 'make_' + kind, lambda *_: None)(number, self.place(thread))

    def make_launch(self, number, place):
        r = self.r
        if r.random() < .05:
            self.x.graph(r.randrange(1, 4), *self.span(), correlation=number, **place)
            return
        self.x.kernel(950 if self.chance(.03) else r.choice(KERNELS), *self.span(), correlation=number, grid=(r.choice([1, 2, 5, 100]), 1, r.choice([1, 2])), block=(r.choice([1, 32, 256]), 1, 1),
                      mangled=r.choice([None, '_Z5saxpyi']), static=r.choice([0, 64]), **place)

    def make_copy(self, number, place):
        r = self.r
        self.x.copy(r.choice([1, 1, 2, 8, 10, 12, 77]), *self.span(), bytes=r.choice([0, 1, 4096, 2**33]), source=r.choice([0, 1, 2, 4]), target=r.choice([0, 1, 2]), correlation=number, **place)

    def make_set(self, number, place):
        self.x.memset(self.r.choice([0, 0, 255]), *self.span(), bytes=self.r.choice([0, 4096]), memory=self.r.choice([0, 2, 2]), correlation=number, **place)

    def make_sync(self, number, place):
        self.x.sync(self.r.choice([1, 2, 3, 4, 9] if not self.sound else [1, 2, 3]), *self.span(), correlation=number, **place)

    def make_lost(self):
        """Activities of no call."""
        for _ in range(self.r.choice([0, 0, 1, 3]) if not self.sound else 0):
            kind = self.r.choice(['launch', 'copy', 'set', 'sync'])
            getattr(self, 'make_' + kind)(self.r.choice([0, None, 10**6, 4294967295]), self.place(self.thread()))

    def make_resolved(self):
        r, x = self.r, self.x
        calls = {row['correlationId']: row for row in x.rows.get(make.RUNTIME, ())}
        names = {number: text for text, number in x.strings.items()}
        x.table('EXTRAP_RESOLVED_CALLPATHS')
        for number, row in calls.items():
            if number and r.random() < .9:
                path = [r.choice(FUNCTIONS).replace('->', '- >') for _ in range(r.randrange(1, 4))]
                x.row('EXTRAP_RESOLVED_CALLPATHS', correlationId=number, callpath='->'.join(path) + r.choice(['', '\x1f']) + '->' + names.get(row['nameId'], 'call'), stackDepth=len(path), duration=1)
        if not x.rows['EXTRAP_RESOLVED_CALLPATHS']:
            x.row('EXTRAP_RESOLVED_CALLPATHS', correlationId=0, callpath='[Uncorrelated]', stackDepth=0, duration=None)
