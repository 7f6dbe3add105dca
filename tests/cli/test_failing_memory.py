"""An allocation of the command fails: it ends with one clear line and status 3, or with the right answer; no crash, no leak (under ASan), and what was there
before is untouched. STEP=1 in the environment lets each of them fail; by default every fourth (under ASan, where this is slow, every twentieth) does."""
import gzip
import json
import os
import shutil
import subprocess

import captures
import cubex
import extraprof
import hpctoolkit
import nsight_make
import protobuf
from common import ASSAY, Case, environment, main

FAILING = os.path.join(os.environ.get('ASSAY_BUILD', 'build'), 'tests', 'assay-failing-memory')
with open(ASSAY, 'rb') as command:
    STEP = int(os.environ.get('STEP') or (20 if b'__asan_init' in command.read() else 4))
TYPES = [('DOUBLE', 'EXCLUSIVE'), ('UINT64', 'EXCLUSIVE'), ('UINT8', 'INCLUSIVE'), ('MINDOUBLE', 'EXCLUSIVE'), ('COMPLEX', 'EXCLUSIVE'), ('HISTOGRAM(2)', 'EXCLUSIVE')]
FORMULAS = [('POSTDERIVED', 'metric::m0() / metric::m2()'), ('PREDERIVED_EXCLUSIVE', '{ ${a} = metric::m0(); if (${a} &gt; 20) { ${a} = ${a} * 2; }; return ${a}; }'),
            ('PREDERIVED_INCLUSIVE', 'metric::m0() + metric::m2()'), ('POSTDERIVED', 'metric::nobody()')]


def value(dtype, row, column):
    if dtype in ('COMPLEX', 'HISTOGRAM(2)'):
        return [row + 0.5 + i for i in range(2 if dtype == 'COMPLEX' else 4)]
    return {'UINT64': 2**63, 'UINT8': 200}.get(dtype, 1000) - 30 * row + column


def profile(pack=cubex.rows, shift=0, types=TYPES, formulas=FORMULAS):
    """Values of many kinds, sums beyond 64 bits, and what is computed of them: five contexts, three locations."""
    members, metrics = {}, ''
    for n, (dtype, kind) in enumerate(types):
        metrics += cubex.metric(n, f'm{n}', dtype, kind)
        members[f'{n}.index'] = cubex.index(range(5))
        members[f'{n}.data'] = pack(dtype, [[value(dtype, row, column + shift) for column in range(3)] for row in range(5)])
    for n, (kind, text) in enumerate(formulas):
        metrics += cubex.metric(20 + n, f'd{n}', 'DOUBLE', kind, f'<cubepl>{text}</cubepl>')
    members['anchor.xml'] = cubex.anchor(metrics, cubex.tree('main(sort(swap) join(swap))'), cubex.system(3))
    return cubex.tar(members)


def export(flavour, with_regions):
    """An export with an activity of every kind."""
    x = nsight_make.Export(flavour)
    if with_regions:
        x.region('main->solve', 0, 1000)
        x.encoded(['main', 'f(int)', 77], 1, 900)
    x.range('user', 2, 800, domain=x.domain('mine'))
    x.mark('here', 5)
    x.launch('saxpy', (10, 30), (40, 90))
    x.kernel('other', 50, 120, stream=8)
    x.call('cudaMemcpyAsync', 100, 110)
    x.copy(nsight_make.TO_DEVICE, 60, 200, bytes=4096)
    x.call('cudaMemset', 210, 220)
    x.memset(1, 212, 219, bytes=64)
    x.call('cudaDeviceSynchronize', 230, 300)
    x.sync(4, 231, 299)
    x.graph(3, 310, 320)
    x.osrt('read', 400, 450)
    x.sample(500, ['main', 'spin'])
    x.name_process(x.thread, 'app')
    x.name_thread(x.thread, 'main')
    return x


class FailingMemory(Case):
    def setUp(self):
        super().setUp()
        self.a, self.b = self.write('a.cubex', profile()), self.write('b.cubex', profile(cubex.packed, 2))
        self.set = self.path('set')
        for p, repetition in ((1, 1), (2, 1), (4, 1), (8, 1), (16, 1), (16, 2)):
            os.makedirs(f'{self.set}/app.p{p}.r{repetition}')
            self.write(f'set/app.p{p}.r{repetition}/profile.cubex', profile(shift=p + repetition, types=TYPES[:2], formulas=[]))

    def sweep(self, *args, output=None, recovers=False, step=STEP):
        """Checks all runs; output: the name of the file (which exists before) or directory (which does not) that the command writes; recovers: what failed may be tried again, so that all
        of them may be fine. Where none of few allocations was needed, every one is tried."""
        folder = self.path(f'runs{len(os.listdir(self.folder))}')
        os.mkdir(folder)
        is_file = output and '.' in output
        more = {'FAIL_OLD': output} if is_file else {}
        env = environment(FAIL_FOLDER=folder, FAIL_STEP=str(step), LC_ALL='C.UTF-8', **more)
        subprocess.run([FAILING, *args], env=env, timeout=600, check=True, preexec_fn=lambda: os.sched_setaffinity(0, {min(os.sched_getaffinity(0))}))
        with open(f'{folder}/log') as log:
            runs = [line.split() for line in log]
        self.assertGreater(len(runs), 4)
        self.assertEqual(['0', '0'], runs[-1], self.said(folder, '0'))
        answer = self.result(folder, '0', output)
        for n, status in runs[:-1]:
            message = f'{" ".join(args)}: allocation {n} failed, status {status}\n{self.said(folder, n)}'
            self.assertIn(status, '03', message)
            if status == '0':
                self.assertTrue(answer == self.result(folder, n, output), message)  # they may be long: nobody reads the difference
                self.assertEqual(self.said(folder, '0'), self.said(folder, n), message)  # what was lost, too
                continue
            lines = [line for line in self.said(folder, n).splitlines() if not line.startswith('assay: note: ')]
            self.assertRegex('\n'.join(lines), r'\Aassay: [^\n]*memory is out[^\n]*\Z', message)
            self.assertEqual({output: b'old\n'} if is_file else {}, self.result(folder, n, output)[1], message)
        shutil.rmtree(folder)
        if not recovers and '3' not in [status for _, status in runs]:
            self.assertGreater(step, 1, runs)
            self.sweep(*args, output=output, step=1)

    @staticmethod
    def said(folder, n):
        with open(f'{folder}/{n}.err', errors='replace') as f:
            return f.read()

    @staticmethod
    def result(folder, n, output):
        """What was printed, and all files that are there."""
        files = {}
        for place, _, names in os.walk(f'{folder}/{n}'):
            for name in names:
                path = os.path.join(place, name)
                with open(path, 'rb') as f:
                    files[os.path.relpath(path, f'{folder}/{n}')] = f.read()
        with open(f'{folder}/{n}.out', 'rb') as f:
            return f.read(), files

    def test_showing(self):
        for how in ((), ('--json',), ('--csv',), ('--md',)):
            for verb in ('info', 'tree', 'stat'):
                self.sweep(verb, *how, self.a)
        self.sweep('validate', self.b)
        self.sweep('tree', '--bottom-up', self.b)
        self.sweep('top', '--callers', '--jsonl', self.b)
        self.sweep('stat', '--context', 'main', self.b)

    def test_exports(self):
        for flavour, with_regions in ((nsight_make.SCHEMA_2_9_1, True), (nsight_make.CURRENT, False)):
            path = export(flavour, with_regions).write(self.path(f'{flavour}.sqlite'))
            self.sweep('info', path)
            self.sweep('sql', '--csv', path, 'select * from value')
            self.sweep('sql', '--csv', path, 'select * from event')

    def test_views_of_exports(self):
        x = export(nsight_make.CURRENT, False)
        x.range('lasts', 3, 700, kind=nsight_make.START_END)
        path = x.write(self.path('views.sqlite'))
        self.sweep('stat', '--report', 'cuda_api_gpu_sum', path)
        self.sweep('stat', '--report', 'nvtx_sum', '--csv', path)
        for by in ('kernel', 'api', 'nvtx'):
            self.sweep('tree', '--by', by, path)
        self.sweep('trace', path)

    def test_profiles_of_gpus(self):
        kernel = extraprof.node('_Z4axpyIdEvPT_i', [90, 40], type_=extraprof.KERNEL, flags=extraprof.ASYNC, visits=[1, 1], bytes_=[0, 7], gpu=[3], extended=[[1], [2]])
        launch = extraprof.node('_Z4axpyIdEvPT_i', [9], kernel, type_=extraprof.LAUNCH, visits=[1], bytes_=[0], gpu=[], extended=[[1], [2]])
        late = extraprof.node('f<int>(int)', [1], extraprof.node('a->b', [5], visits=[1], bytes_=[0]), visits=[1], bytes_=[0])
        whole = extraprof.profile(extraprof.node('main', [100], launch, late, visits=[1], bytes_=[0], gpu=[], extended=[[9], [9]]), gpu=['inst'], extended=[['energy_cpu', 1], ['energy_gpu', 2]])
        path = self.write('x.extra-prof.msgpack', whole)
        for p in (1, 2, 4):
            os.makedirs(self.path(f'gpus/app.p{p}'))
            self.write(f'gpus/app.p{p}/profile.extra-prof.msgpack', whole)
        self.sweep('info', path)
        self.sweep('sql', '--csv', path, 'select * from value')
        self.sweep('info', self.path('gpus'))
        self.sweep('sql', '--csv', self.path('gpus'), 'select * from measurement')

    def test_algebra(self):
        for how in ((), ('--json',), ('--csv',)):
            self.sweep('diff', *how, self.a, self.b)
            self.sweep('cut', '--prune', 'sort', *how, self.a)
        self.sweep('diff', self.a, self.b, '-o', 'out.cubex', output='out.cubex')
        self.sweep('mean', self.a, self.b, '-o', 'out.cubex', output='out.cubex')
        self.sweep('merge', self.a, self.b, '-o', 'out.cubex', output='out.cubex')
        self.sweep('cut', '--root', 'sort', self.b, '-o', 'out.cubex', output='out.cubex')

    def test_sql(self):
        for table in ('node', 'value', 'context'):
            self.sweep('sql', '--csv', self.a, f'select * from {table}')
        self.sweep('sql', '--json', self.set, 'select * from measurement')

    def test_sets(self):
        for verb in ('info', 'tree', 'stat', 'model'):
            self.sweep(verb, '--json', self.set)
        self.sweep('model', '--json', *(f'{self.set}/app.p{p}.r1/profile.cubex' for p in (1, 2, 4)))
        self.sweep('info', self.set)
        self.sweep('convert', '--to', 'cube-set', self.set, 'new', output='new')
        self.sweep('mean', self.set, '-o', 'out.extra-p', output='out.extra-p')
        self.sweep('diff', self.set, self.set, '--to', 'cube-set', '-o', 'new', output='new')

    def test_several_exports(self):
        paths = []
        for n in (1, 2):
            os.makedirs(self.path(f'exports/app.n{n}'))
            x = nsight_make.Export()
            x.thread = nsight_make.global_tid(70 + n, 70 + n)
            x.range('step', 0, 1000 * n)
            x.launch('k', (10, 20), (30, 30 + 100 * n))
            x.osrt('poll', 1, 2)
            paths.append(x.write(self.path(f'exports/app.n{n}/a.sqlite')))
        self.sweep('diff', '--json', *paths)
        self.sweep('compare', '--json', '--fail-on', 'never', *paths)
        self.sweep('info', '--json', self.path('exports'), recovers=True)
        self.sweep('sql', '--csv', self.path('exports'), 'select * from measurement', recovers=True)

    def test_hpctoolkit(self):
        old, new = self.path('2021'), self.path('4')
        hpctoolkit.write_2021(old, hpctoolkit.small(), cct=False)  # its part is made in memory
        hpctoolkit.write_4(new, hpctoolkit.small())
        for path in (old, new):
            self.sweep('info', path)
            self.sweep('sql', '--csv', path, 'select * from value')
            self.sweep('sql', '--csv', path, 'select * from value where location = 2')
        draft = self.path('draft')
        hpctoolkit.write_4(draft, hpctoolkit.small(), draft_metrics=True, entry_size=40)
        self.sweep('info', '--json', draft)
        self.sweep('validate', new)
        self.sweep('sql', '--csv', new, 'select * from event')
        self.sweep('sql', '--csv', new, 'select * from summary')
        self.sweep('tree', '--json', old)

    def test_regress(self):
        rows = [{'uid': u, 'type': 'mixed', 'amount': 3 * x + len(u), 'structure-unit-size': x} for u in ('f', 'gg') for x in range(8)]
        path = self.write('p.perf', json.dumps({'header': {'type': 'mixed', 'units': {'mixed': 'us'}}, 'collector_info': {}, 'resources': rows}))
        self.sweep('regress', path)
        self.sweep('regress', '--csv', '--method', 'bisection', path)
        self.sweep('regress', '--json', '--strategy', 'best-param', '--plot-points', '5', path)
        self.sweep('regress', '--plot', 'f', '--all', path)
        self.sweep('regress', '--models', 'linear', path, '-o', 'out.perf', output='out.perf')
        self.sweep('regress', '--json', self.set)

    def test_formulas(self):
        """Of users, of experiment.xml, and of metrics/*.yaml."""
        derive = ('--derive', 'x [s]=m0/m2 + @m0', '--derive', "y=sqrt(x) + 'm1'")
        self.sweep('tree', '--json', self.a, *derive)
        self.sweep('tree', '--flat', self.a, *derive)
        self.sweep('stat', '--csv', self.a, '--metric', 'y', *derive)
        self.sweep('diff', '--csv', self.a, self.b, '--metric', 'y', *derive)
        old, new = self.path('2021'), self.path('4')
        hpctoolkit.write_2021(old, hpctoolkit.small())
        self.sweep('sql', '--csv', old, 'select * from summary')
        hpctoolkit.write_4(new, hpctoolkit.small())
        os.mkdir(f'{new}/metrics')
        ids = {(m, s): f'{{metric: {m}, scope: {s}}}' for m in ('CPUTIME (sec)', 'cycles') for s in ('execution', 'function')}
        sides = {s: f'{{/: [{ids["cycles", s]}, {ids["CPUTIME (sec)", s]}]}}' for s in ('execution', 'function')}
        self.write('4/metrics/default.yaml', f'''version: 0
roots:
  - name: CPUTIME (sec)
    description: CPU time
    visible by default: false
    variants: {{Mean: {{formula: {{inclusive: {{/: [{ids["CPUTIME (sec)", "execution"]}, {{metric: CPUTIME (sec), scope: execution, formula: 1}}]}}}}}}}}
    children:
      - name: rate
        variants: {{Sum: {{format: "%.1f", formula: {{inclusive: {sides["execution"]}, exclusive: {sides["function"]}}}}}}}
''')
        self.sweep('sql', '--csv', new, 'select * from node')
        self.sweep('sql', '--csv', new, 'select * from summary')

    def test_traces(self):
        path = self.path('4')
        database = hpctoolkit.small()
        database.profiles[0].trace.reverse()  # to be sorted
        hpctoolkit.write_4(path, database)
        for how in ((), ('--json', '--width', '10'), ('--csv', '--summary', '--bins', '3'), ('--samples', '--csv'), ('--by-location', '--all-contexts')):
            self.sweep('trace', *how, path)
        self.sweep('sql', '--csv', path, 'select * from event where location = 2 and start < 5 order by start_raw')
        self.sweep('info', path)

    def test_pictures(self):
        for how in (('--metric', 'm1'), ('--inverted', '--metric', 'm1'), ('--diff', '--metric', 'm1', self.b)):
            self.sweep('flame', *how, self.a, '-o', 'out.svg', output='out.svg')
        path = self.path('4')
        hpctoolkit.write_4(path, hpctoolkit.small())
        self.sweep('trace', path, '--width', '20', '-o', 'out.svg', output='out.svg')

    def test_writing(self):
        self.sweep('convert', '-O', 'compression=zlib', self.a, 'out.cubex', output='out.cubex')
        self.sweep('tree', '--json', self.b, '-o', 'out.json', output='out.json')
        for name in ('out.txt', 'out.json', 'out.jsonl', 'out.extra-p'):
            self.sweep('convert', self.set, name, output=name)

    def test_writing_hpctoolkit_databases(self):
        old, new = self.path('2021'), self.path('4')
        hpctoolkit.write_2021(old, hpctoolkit.small())
        hpctoolkit.write_4(new, hpctoolkit.small())
        os.mkdir(os.path.join(old, 'src'))
        self.write('2021/src/main.c', 'int main;\n')
        for source in (old, new, self.a):
            for form in ('hpctoolkit-2021', 'hpctoolkit-4'):
                self.sweep('convert', '--to', form, source, 'out', output='out')

    def test_perun(self):
        rows = [{'uid': {'function': u, 'line': len(u)}, 'type': 'mixed', 'subtype': 'time', 'amount': 3 * x + len(u), 'structure-unit-size': x,
                 'trace': [{'function': u, 'source': 'a.c', 'line': 1}, {'function': 'main', 'source': 'a.c', 'line': 2}]} for u in ('f', 'gg') for x in range(8)]
        models = [{'uid': 'f:1', 'model': 'linear', 'r_square': 0.5, 'coeffs': [{'name': 'b0', 'value': 1}, {'name': 'b1', 'value': 2}], 'x_start': 1, 'x_end': 9}]
        header = {'type': 'mixed', 'units': {'mixed(time)': 'us'}, 'cmd': 'sort'}
        old = self.write('old.perf', json.dumps({'header': header, 'collector_info': {'name': 'c'}, 'snapshots': [{'time': '1', 'resources': rows, 'models': models}]}))
        new = self.write('new.perf', json.dumps({'header': header, 'resources': {'f#0': {'amount': [1, 2.5, 'x', 10**30], 'structure-unit-size': [1, 2, 3]}, 'g#0': {'amount': [{'a': 1}]}},
                                                 'resource_type_map': {'f#0': {'uid': 'f:1', 'type': 'mixed', 'subtype': 'time'}, 'g#0': {'type': 'mixed'}}, 'models': models}))
        for path in (old, new):
            self.sweep('info', path)
            self.sweep('sql', '--csv', path, 'select * from record')
            self.sweep('flame', '--folded', path)
            self.sweep('flame', '--folded', '-O', 'perun_compatible=yes', path)
            self.sweep('convert', '-O', 'layout=new', path, 'out.perf', output='out.perf')
            self.sweep('convert', '-O', 'layout=old', path, 'out.perf', output='out.perf')
        self.sweep('convert', self.a, 'out.perf', output='out.perf')
        self.sweep('compare', '--json', '--fail-on', 'never', old, new)
        self.sweep('compare', '--fail-on', 'never', '--check', 'all', old, new)
        self.sweep('compare', '--noise', old, old)
        self.sweep('compare', '--series', '--fail-on', 'never', '--order', 'given', old, old, new)

    def capture(self):
        """Two runs; regions with tags, points and aggregates, a section whose intervals overlap, a pause; records before what they refer to, orphans, unfinished and faulty ones."""
        text = captures.SIGNATURE + 'RegionStop,190,0x30\n' + captures.run_info() + captures.run_info(2, tags='size=2')
        text += ('MeasurementType,100,0x1,0xa,cpu,double,s,,"the ""time"""\nMeasurementType,100,0x1,0xb,memory,int64,B,,\nMeasurementType,100,0x2,0xc,state,string,text,,\n')
        for i in range(1, 6):
            text += captures.region(i, f'step {i % 2}', 10 * i, 10 * i + 5, f'platform=p{i % 2};size={i}', run=1 + i % 2,
                                    more=f'RegionPoint,{100 + 10 * i},{i:#x},0xb,{1000 * i},0xc,"a ""b"" {i}"\nRegionAggregate,{105 + 10 * i},{100 + 10 * i},{i:#x},,0xa,{i}.5\n')
        text += captures.section(0x20, 'io', [(0, 4), (1, 3), (2, 10)]) + 'PauseResume,103,101,0x1\nRunPoint,140,0x1,0xb,7\nRunAggregate,150,100,0x1,mean,0xa,1.5\n'
        text += 'RegionStart,180,0x1,0x30,late,\nRegionStart,185,0x1,0x31,never stopped,\nRegionPoint,110,0x77,0xb,1\nRegionPoint,110,0x1,0xb,x\nSoon,1\n'
        return self.write('capture.afperf', text)

    def test_captures(self):
        path = self.capture()
        for how in ((), ('--json',)):
            for verb in ('info', 'tree', 'stat', 'trace'):
                self.sweep(verb, *how, path)
        self.sweep('validate', path)
        self.sweep('stat', '--worst', '2', '--exclusive', '-O', 'deduct_pauses=yes', path)
        self.sweep('stat', '--metric', 'memory', '--group-by', 'platform,region', path)
        self.sweep('tree', '--group-by', 'platform,path', path)
        self.sweep('trace', '--intervals', '--csv', path)
        for table in ('event', 'attribute', 'record', 'problem'):
            self.sweep('sql', '--csv', path, f'select * from {table}')

    def test_writing_captures(self):
        path = self.capture()
        self.sweep('convert', path, 'out.afperf', output='out.afperf')
        self.sweep('convert', self.a, 'out.afperf', output='out.afperf')
        self.sweep('merge', path, path, '-o', 'out.afperf', output='out.afperf')
        self.sweep('convert', self.write('flight.afperf', captures.FLIGHT), 'out.cubex', output='out.cubex')

    def test_profiles_and_traces_of_other_tools(self):
        m = protobuf.Maker(('n', 'count'), ('cpu', 'nanoseconds')).function(1, 'f', 'f.c', 3).function(2, 'g').location(1, (1, 4), (2, 9)).location(2, address=0xbeef)
        m.sample([1, 2], [3, 4], thread='w', bytes=64).sample([], [1, 1]).sample([1, 1, 2], [7, 8]).add(13, [m.text('c')])
        for name, data in (('p.pb.gz', gzip.compress(m.bytes(), mtime=0)), ('p.pprof', m.bytes())):
            self.sweep('tree', self.write(name, data))
        path = self.path('p.pprof')
        self.sweep('tree', '-O', 'lines=yes', path)
        for target in ('out.pb.gz', 'out.callgrind'):
            self.sweep('convert', self.a, target, output=target)
            self.sweep('convert', path, target, output=target)
        self.sweep('convert', '-O', 'locations=each', self.a, 'out.pprof', output='out.pprof')
        self.sweep('convert', self.capture(), 'out.pftrace', output='out.pftrace')
        self.sweep('convert', self.capture(), 'out.trace.json', output='out.trace.json')

    def test_stacks_of_other_tools(self):
        folded = self.write('x.folded', 'main;f_[k] 3\nmain;g h 4.5\nmain 1\n')
        shared = {'frames': [{'name': 'main', 'file': 'm.c', 'line': 3}, {'name': 'f'}]}
        evented = {'type': 'evented', 'name': 't', 'unit': 'seconds', 'startValue': 0, 'endValue': 4,
                   'events': [{'type': 'O', 'frame': 0, 'at': 0}, {'type': 'O', 'frame': 1, 'at': 1}, {'type': 'C', 'frame': 1, 'at': 3}, {'type': 'C', 'frame': 0, 'at': 4}]}
        sampled = {'type': 'sampled', 'name': 's', 'unit': 'none', 'startValue': 0, 'endValue': 3, 'samples': [[0], [0, 1]], 'weights': [1, 2]}
        speedscope = self.write('x.speedscope.json', json.dumps({'$schema': 'https://www.speedscope.app/file-format-schema.json', 'shared': shared, 'profiles': [evented, sampled]}))
        for path in (folded, speedscope, self.a):
            self.sweep('convert', path, 'out.folded', output='out.folded')
            self.sweep('convert', path, 'out.speedscope.json', output='out.speedscope.json')

    def test_reports(self):
        """A report has all it should have, or there is none: the earlier file stays."""
        folded = self.write('x.folded', 'main;f 3\nmain;g 4\n')
        self.sweep('report', folded, '-o', 'out.html', output='out.html', step=3)
        points = self.write('points.txt', 'PARAMETER p\nPOINTS 2 4 8 16 32\nREGION main\nMETRIC time\nDATA 1\nDATA 2\nDATA 3\nDATA 4\nDATA 5\n')
        for inputs in ([self.a], [folded, folded], [points], [self.capture()]):
            self.sweep('report', *inputs, '-o', 'out.html', output='out.html', step=97)

    def test_appending_to_captures(self):
        """Each try adds all of its records or none."""
        source, target = self.write('more.afperf', captures.FLIGHT), self.write('container.afperf', captures.FLIGHT)
        self.sweep('convert', '--append', source, target)
        with open(target, 'rb') as f:
            text = f.read()
        records = [line for line in text.splitlines() if line and not line.startswith(b'#')]
        first = records[:len(records) // records.count(records[0])]
        self.assertEqual(records, first * records.count(records[0]))


if __name__ == '__main__':
    main()
