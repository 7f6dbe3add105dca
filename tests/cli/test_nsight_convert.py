"""Exports of Nsight Systems in other formats, and back: every number is from the times below, by hand."""
import os
import sqlite3

import common
import cubex
import hpctoolkit_decode
from nsight_make import CURRENT, DEVICE, PINNED, TO_DEVICE, Export, global_tid

OTHER = global_tid(1000, 2)
P = 'process 1000->thread 1->'
WORK, INNER, COPY, LAUNCH, SYNC = P + 'work', P + 'work->inner', P + 'work->inner->cudaMemcpyAsync_v3020', P + 'work->inner->cudaLaunchKernel_v7000', P + 'work->cudaDeviceSynchronize_v3020'
READ, OS = 'process 1000->thread 2->read', '[OS runtime]->thread 1->poll'
MOVED, SAXPY = COPY + '->HOST_TO_DEVICE', LAUNCH + '->GPU saxpy'

# Exclusive nanoseconds: work 10000 - 5000 (inner) - 2000 (the synchronisation), inner 5000 - 500 - 400
TIMES = {WORK: 3000, INNER: 4100, COPY: 500, LAUNCH: 400, SYNC: 2000, READ: 4000, OS: 500}
GPU_TIMES = {MOVED: 2000, SAXPY: 3000}
VISITS = dict.fromkeys([*TIMES, *GPU_TIMES], 1)
BYTES = {MOVED: 4096}
EXCLUSIVE = {**{('time', p): t / 1e9 for p, t in TIMES.items()}, **{('gpu_time', p): t / 1e9 for p, t in GPU_TIMES.items()}, **{('visits', p): n for p, n in VISITS.items()}, ('bytes', MOVED): 4096}
TOTAL = 14000                             # the ranges of both threads; what the operating system did is within them


def plain():
    x = Export(CURRENT)
    x.range('work', 0, 10000)
    x.range('inner', 1000, 6000)
    x.range('read', 0, 4000, thread=OTHER)
    x.call('cudaMemcpyAsync_v3020', 2000, 2500)
    x.copy(TO_DEVICE, 3000, 5000, 4096, PINNED, DEVICE, stream=13)
    x.launch('saxpy', (5000, 5400), (5600, 8600), stream=14)
    x.call('cudaDeviceSynchronize_v3020', 7000, 9000)
    x.osrt('poll', 9200, 9700)
    return x


def point(n, rank=0):
    """With Extra-Prof's call paths: a kernel of n^2 ns, and a copy that blocks of 10 * n ns; rank 1 takes one nanosecond longer in the kernel."""
    x = Export()
    end = 1000 + n * n + rank
    x.region('main', 0, end + 10 * n + 1000)
    x.region('main->solve', 100, end + 10 * n + 900)
    x.launch('step', (200, 300), (400, 400 + n * n + rank), stream=13)
    x.call('cudaMemcpy_v3020', end, end + 10 * n + 50)
    x.copy(TO_DEVICE, end + 20, end + 20 + 10 * n, 8 * n, PINNED, DEVICE, stream=13)
    return x


NODES = ('select m.name as metric, c.path as path, n.exclusive as exclusive, n.inclusive as inclusive from node n join metric m on m.id = n.metric join context c on c.id = n.context '
         'where n.exclusive is not null')


class Converted(common.Case):
    def setUp(self):
        super().setUp()
        self.export = plain().write(self.path('in.sqlite'))

    def convert(self, *arguments):
        result = common.run('convert', *arguments)
        self.assertEqual((0, ''), (result.status, result.out), result)
        return result.err

    def rows(self, path, statement):
        result = common.run('sql', '--json', path, statement)
        self.assertEqual(0, result.status, result)
        return result.json

    def exclusive(self, path):
        """{(metric, path): value}, those that are not 0."""
        nodes = {(r['metric'].split(' (')[0], r['path'].replace('main thread->', '')): r['exclusive'] for r in self.rows(path, NODES)}
        return {k: v for k, v in nodes.items() if v}

    def total(self, path, metric='time'):
        result = common.run('tree', '--json', path, '--metric', metric)
        return result.json['root']['values'][metric]['inclusive']

    def assertNear(self, expected, got):
        self.assertEqual(sorted(expected), sorted(got))
        for key, value in expected.items():
            self.assertAlmostEqual(value, got[key], 15, key)

    def test_what_is_converted(self):
        self.assertNear(EXCLUSIVE, self.exclusive(self.export))
        self.assertAlmostEqual(TOTAL / 1e9, self.total(self.export), 15)

    def test_cube(self):
        said = self.convert(self.export, self.path('out.cubex'))
        self.assertIn('cube cannot hold 9 events', said)                        # three ranges, three calls, a copy, a kernel and poll
        self.assertIn('those are made up', said)                                # the machine
        self.assertNear(EXCLUSIVE, self.exclusive(self.path('out.cubex')))
        self.assertAlmostEqual(TOTAL / 1e9, self.total(self.path('out.cubex')), 15)  # sections are such still

    def test_cube_as_others_read_it(self):
        self.convert(self.export, self.path('out.cubex'))
        cube = cubex.Cube(self.read('out.cubex'))
        self.assertEqual([], cubex.grammar_errors(cube.anchor))
        self.assertEqual('4.7', cube.version)                                   # the first with accelerators
        self.assertEqual([('thread 1', 'thread'), ('thread 2', 'thread'), ('stream 13', 'accelerator stream'), ('stream 14', 'accelerator stream')],
                         [(l['name'], l['type']) for l in cube.locations])
        self.assertEqual(['process', 'accelerator'], [g.find('type').text for g in cube.root.iter('locationgroup')])
        paths = cube.paths()
        for metric, place, path, value in (('time', 0, WORK, 3e-6), ('time', 1, READ, 4e-6), ('gpu_time', 2, MOVED, 2e-6), ('gpu_time', 3, SAXPY, 3e-6), ('bytes', 2, MOVED, 4096)):
            row = cube.values[metric][paths.index(path)]
            self.assertEqual([value if i == place else 0 for i in range(4)], row, (metric, path))

    def check_hpctoolkit(self, db, said):
        self.assertIn('1 event that is no part of a call path\'s time line', said)  # poll
        names = {}
        for id, (parent, kind, name) in db.tree.items():
            names[id] = f'{names[parent]}->{name}' if names.get(parent) and kind not in ('root', 'entry') else '' if kind in ('root', 'entry') else name
        number = {path: id for id, path in names.items() if path}
        # Each thread of a process, and each stream of a device by its number
        places = {tuple(elements): values for elements, _, values in db.profiles}
        main, other = (('RANK', 0, 0), ('THREAD', 0, 0)), (('RANK', 0, 0), ('THREAD', 1, 1))
        copies, kernels = (('GPUDEVICE', 0, 0), ('GPUSTREAM', 0, 13)), (('GPUDEVICE', 0, 0), ('GPUSTREAM', 1, 14))
        self.assertEqual({main, other, copies, kernels}, set(places))
        metric = {(name.split(' (')[0], kind): id for id, (name, kind) in db.metrics.items()}
        inclusive, exclusive, on_gpu = (next(id for (n, k), id in metric.items() if n == name and k.startswith(kind)) for name, kind in (('time', 'i'), ('time', 'e'), ('gpu_time', 'e')))
        for path, value in TIMES.items():
            self.assertAlmostEqual(value / 1e9, places[other if path == READ else main][number[path], exclusive], 15)
        self.assertAlmostEqual(10000 / 1e9, places[main][number[WORK], inclusive], 15)
        self.assertAlmostEqual(10000 / 1e9, places[main][0, inclusive], 15)     # the root: without what is beside the call tree
        self.assertAlmostEqual(3e-6, places[kernels][number[SAXPY], on_gpu], 15)
        # Lines: a thread's samples own the time around them, so what lasts has one at its end as well; those of GPUs own the time up to the next
        lines = {tuple(elements): [(t, names[c]) for t, c in line] for (elements, _, _), line in zip(db.profiles, db.traces)}
        ends = [(0, WORK), (1000, INNER), (2000, COPY), (2500, INNER), (5000, LAUNCH), (5400, INNER), (6000, WORK), (7000, SYNC), (9000, WORK), (10000, '')]
        expected = [s for (a, path), (b, _) in zip(ends, ends[1:]) for s in ((a, path), (b - 1, path))] + ends[-1:]
        self.assertEqual(expected, lines[main])
        self.assertEqual([(0, READ), (3999, READ), (4000, '')], lines[other])
        self.assertEqual([(3000, MOVED), (5000, '')], lines[copies])
        self.assertEqual([(5600, SAXPY), (8600, '')], lines[kernels])

    def test_hpctoolkit(self):
        for form, decode in (('hpctoolkit-4', hpctoolkit_decode.decode_4), ('hpctoolkit-2021', hpctoolkit_decode.decode_2021)):
            with self.subTest(form):
                said = self.convert('--to', form, self.export, self.path(form))
                self.check_hpctoolkit(decode(self.path(form)), said)
                back = self.exclusive(self.path(form))
                self.assertNear(EXCLUSIVE, back)
                self.assertAlmostEqual(TOTAL / 1e9, sum(r['value'] for r in self.rows(self.path(form), '''select sum(inclusive) as value from node n join metric m on m.id = n.metric
                    join context c on c.id = n.context where m.name like 'time%' and c.path like '%process 1000' ''')), 15)

    def test_traces_of_a_database_are_those_of_the_export(self):
        self.convert('--to', 'hpctoolkit-4', self.export, self.path('db'))
        result = common.run('trace', '--json', '--depth', 'deepest', self.path('db')).json
        times = {p['name']: p['time'] for p in result['procedures']}
        for name, ns in (('work', 3000), ('inner', 4100), ('GPU saxpy', 3000), ('HOST_TO_DEVICE', 2000), ('read', 4000)):
            self.assertAlmostEqual(ns, times[name] * 1e9, delta=3, msg=name)    # half a nanosecond at each end

    def test_perun_and_back(self):
        said = self.convert(self.export, self.path('out.perf'))
        self.assertIn('4 locations (their values are added up)', said)
        self.assertIn('1 section that is no part of the whole (it counts as one there)', said)
        self.assertNear(EXCLUSIVE, self.exclusive(self.path('out.perf')))

    def test_afperf(self):
        said = self.convert(self.export, self.path('out.afperf'))
        self.assertIn('4 locations', said)
        self.assertIn('5 contexts without events, and their values\n', said)    # a process, its two threads, and the thread in what the operating system did
        self.assertIn('where 9 contexts stand in the call tree (sections: these run beside it)', said)
        self.assertEqual('', common.run('validate', '-q', self.path('out.afperf')).err)
        events = self.rows(self.path('out.afperf'), 'select name, start_raw, end_raw from event order by start_raw, name')
        self.assertEqual([('read', 0, 4000), ('work', 0, 10000), ('inner', 1000, 6000), ('cudaMemcpyAsync_v3020', 2000, 2500), ('HOST_TO_DEVICE', 3000, 5000), ('cudaLaunchKernel_v7000', 5000, 5400),
                          ('saxpy', 5600, 8600), ('cudaDeviceSynchronize_v3020', 7000, 9000), ('poll', 9200, 9700)], [(e['name'], e['start_raw'], e['end_raw']) for e in events])
        tags = self.rows(self.path('out.afperf'), "select e.name, a.key, a.value from event e join attribute a on a.owner = 'event' and a.owner_id = e.id where e.name = 'saxpy'")
        tags = {t['key']: t['value'] for t in tags}
        self.assertEqual(('kernel', 'stream 14', '32,1,1'), tuple(tags.get('tag:' + k, tags.get(k)) for k in ('kind', 'location', 'block')))

    def test_time_lines(self):
        for target in ('chrome-trace', 'perfetto', 'speedscope'):
            self.assertIn('5 contexts without events\n', self.convert('--to', target, self.export, self.path(target)))

    def test_sqlite(self):
        self.assertEqual('', self.convert(self.export, self.path('out.sqlite')))
        with sqlite3.connect(self.path('out.sqlite')) as db:
            got = {(m, p): v for m, p, v in db.execute('select m.name, c.path, sum(v.value) from value v join metric m on m.id = v.metric join context c on c.id = v.context group by 1, 2')}
            self.assertNear(EXCLUSIVE, got)
            self.assertEqual([('kernel', 'saxpy', 5600, 8600)], db.execute("select kind, name, start_raw, end_raw from event where kind = 'kernel'").fetchall())
            self.assertEqual(9, db.execute('select count(*) from event').fetchone()[0])

    def test_no_points_no_experiment(self):
        for form in ('extrap-text', 'extrap-experiment', 'extrap-jsonl', 'extrap-json', 'extrap-talpas', 'cube-set'):
            result = common.run('convert', '--to', form, self.export, self.path('out'))
            self.assertFails(result, 3, 'parameters')
            self.assertEqual(['in.sqlite'], self.files(), form)

    def test_strict(self):
        result = common.run('convert', '--strict', self.export, self.path('out.cubex'))
        self.assertEqual((1, ['in.sqlite']), (result.status, self.files()))

    def test_an_export_is_never_written(self):
        self.assertFails(common.run('convert', '--to', 'nsight', self.export, self.path('out.sqlite')), 2, 'nsight')

    def test_algebra_keeps_what_an_export_says(self):
        """The mean of an export and itself is it, the difference is nothing, and what is cut out keeps its numbers."""
        result = common.run('mean', self.export, self.export, '-o', self.path('mean.cubex'))
        self.assertEqual(0, result.status, result)
        self.assertNear(EXCLUSIVE, self.exclusive(self.path('mean.cubex')))
        common.run('diff', self.export, self.export, '-o', self.path('diff.cubex'))
        self.assertEqual({}, self.exclusive(self.path('diff.cubex')))
        common.run('cut', self.export, '--root', 'inner', '-o', self.path('cut.cubex'))
        cut = self.exclusive(self.path('cut.cubex'))
        self.assertAlmostEqual(4100 / 1e9, cut['time', 'inner'], 15)
        self.assertAlmostEqual(3000 / 1e9, cut['gpu_time', 'inner->cudaLaunchKernel_v7000->GPU saxpy'], 15)
        common.run('merge', self.export, self.export, '-o', self.path('merge.cubex'))
        self.assertEqual(0, common.run('info', self.path('merge.cubex')).status)


class ConvertedSets(common.Case):
    """Sizes 10, 20, 40, 80 and 160, the last on two processes."""
    SIZES = (10, 20, 40, 80, 160)
    KERNEL, LAUNCHED, MOVED = ('main->solve->cudaLaunchKernel_v7000->step->GPU step', 'main->solve->cudaLaunchKernel_v7000->step', 'main->solve->cudaMemcpy_v3020->BLOCKING HOST_TO_DEVICE')

    def setUp(self):
        super().setUp()
        for n in self.SIZES:
            os.makedirs(self.path(f'in/app.n{n}'))
            for rank in range(2 if n == 160 else 1):
                point(n, rank).write(self.path(f'in/app.n{n}/rank{rank}.sqlite'))

    def expected(self):
        """{(point, metric, path): the values of its runs}"""
        out = {}
        for n in self.SIZES:
            ranks, label = range(2 if n == 160 else 1), f'({n})'
            kernel = [(n * n + rank) / 1e9 for rank in ranks]
            out[label, 'time', self.KERNEL] = out[label, 'gpu_time', self.KERNEL] = kernel
            out[label, 'time', self.LAUNCHED] = [100 / 1e9 for _ in ranks]
            out[label, 'time', self.MOVED] = out[label, 'gpu_time', self.MOVED] = [10 * n / 1e9 for _ in ranks]
            out[label, 'bytes_transferred', self.MOVED] = [8 * n for _ in ranks]
            out[label, 'time', 'main->solve->cudaMemcpy_v3020'] = [50 / 1e9 for _ in ranks]             # it blocks: without what the GPU does
            out[label, 'time', 'main->solve'] = [(n * n + rank + 1650) / 1e9 for rank in ranks]                                   # 10 * n + 1800 more than the kernel, without both calls
            out[label, 'time', 'main->solve->GPU IDLE'] = [1650 / 1e9 for _ in ranks]
            out[label, 'time', 'main'] = [200 / 1e9 for _ in ranks]
        return out

    def assertPoints(self, path, *options):
        rows = common.run('sql', '--json', *options, path, '''select p.label as point, m.name as metric, c.path as path, s.mean as mean, s.minimum as low, s.maximum as high, s.repetitions as n
            from measurement s join point p on p.id = s.point join metric m on m.id = s.metric join context c on c.id = s.context''').json
        got = {(r['point'], r['metric'], r['path']): r for r in rows if r['metric'] != 'visits' and (r['low'] or r['high'])}
        expected = self.expected()
        self.assertEqual(sorted(expected), sorted(got))
        for key, values in expected.items():
            row = got[key]
            for name, value in (('mean', sum(values) / len(values)), ('low', min(values)), ('high', max(values))):
                self.assertAlmostEqual(value, row[name], 14, (key, name))
            self.assertEqual(len(values), row['n'], key)

    def test_what_is_converted(self):
        self.assertPoints(self.path('in'))

    def test_extra_p(self):
        for form in ('extrap-text', 'extrap-jsonl', 'extrap-json', 'extrap-talpas', 'extrap-experiment'):
            with self.subTest(form):
                result = common.run('convert', '--to', form, self.path('in'), self.path(form))
                self.assertEqual((0, ''), (result.status, result.out), result)
                self.assertPoints(self.path(form))

    def test_extra_p_knows_what_is_of_the_gpu(self):
        """By the tags that its own reader of such sets adds."""
        result = common.run('convert', self.path('in'), self.path('out.extra-p'))
        self.assertNotIn('aside', result.err)
        gpu = {'agg__category__comparison_cpu_gpu': None}
        expected = {self.KERNEL: {'gpu__kernel': 'true', 'agg__category': 'GPU', **gpu}, self.MOVED: {'gpu__mem_copy': 'true', 'gpu__blocking__mem_copy': 'true'},
                    'main->solve->GPU IDLE': {'gpu__idle': 'true', 'agg__category': 'GPU IDLE', 'validation__ignore__num_measurements': 'true'}}
        for path in (self.path('in'), self.path('out.extra-p')):
            got = {}
            for row in common.run('sql', '--json', path, "select c.path, a.key, a.value from attribute a join context c on c.id = a.owner_id where a.owner = 'context' and a.key like 'tags:%'").json:
                got.setdefault(row['path'], {})[row['key'][5:]] = row['value']
            self.assertEqual(expected, got, path)

    def test_a_set_of_cube_files(self):
        result = common.run('convert', '--to', 'cube-set', self.path('in'), self.path('out'))
        self.assertEqual(0, result.status, result)
        self.assertEqual(6, sum(f.endswith('.cubex') for _, _, files in os.walk(self.path('out')) for f in files))
        self.assertPoints(self.path('out'))

    def test_perun(self):
        self.assertEqual(0, common.run('convert', self.path('in'), self.path('out.perf')).status)
        rows = common.run('sql', '--json', self.path('out.perf'), f'''select p.label as point, s.mean as mean from measurement s join point p on p.id = s.point join metric m on m.id = s.metric
            join context c on c.id = s.context where c.path = '{self.KERNEL}' and m.name like 'gpu_time%' ''').json
        self.assertEqual({f'({n})': n * n + (0.5 if n == 160 else 0) for n in self.SIZES}, {r['point']: round(r['mean'] * 1e9, 3) for r in rows})

    def test_afperf_runs_have_their_sizes(self):
        self.assertEqual(0, common.run('convert', self.path('in'), self.path('out.afperf')).status)
        rows = common.run('sql', '--json', '-O', 'parameter=tag:n', self.path('out.afperf'), 'select label from point').json
        self.assertEqual([f'({n})' for n in self.SIZES], [r['label'] for r in rows])

    def test_models_say_the_same_of_all(self):
        """n^2 of the kernel, n of the copy: exact."""
        common.run('convert', self.path('in'), self.path('out.extra-p'))
        for path in (self.path('in'), self.path('out.extra-p')):
            models = {m['callpath']: m for m in common.run('model', '--json', '--metric', 'gpu_time', path).json['models']}
            for callpath, exponent, factor in ((self.KERNEL, '2', 1e-9), (self.MOVED, '1', 1e-8)):
                term, = models[callpath]['terms']
                self.assertEqual([('n', exponent, '0')], [(f['parameter'], f['exponent'], f['log_exponent']) for f in term['factors']])
                self.assertAlmostEqual(1, term['coefficient'] / factor, 4)

    def test_one_run_of_many_is_a_database(self):
        self.assertFails(common.run('convert', '--to', 'hpctoolkit-4', self.path('in'), self.path('out')), 3, '-O run=0 … 5')
        result = common.run('convert', '--to', 'hpctoolkit-4', '-O', 'run=5', self.path('in'), self.path('out'))
        self.assertEqual(0, result.status, result)
        row, = common.run('sql', '--json', self.path('out'), f'''select n.exclusive as v from node n join metric m on m.id = n.metric join context c on c.id = n.context
            where m.name like 'gpu_time%' and c.path like '%{self.KERNEL}' ''').json
        self.assertAlmostEqual(25601 / 1e9, row['v'], 14)


if __name__ == '__main__':
    common.main()
