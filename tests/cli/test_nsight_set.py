"""Directories of exports of Nsight Systems: points, runs, and what becomes of their values. Expected numbers are those that the exports below are made of."""
import hashlib
import os
import shutil
import statistics
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from common import Case, main, run
from nsight_make import CURRENT, Export, PINNED, TO_DEVICE, global_pid, global_tid

LAUNCH, COPY, SYNC = 'main->cudaLaunchKernel_v7000->k', 'main->cudaMemcpy_v3020', 'main->cudaDeviceSynchronize_v3020->CONTEXT_SYNCHRONIZE'
MEASUREMENTS = ('select p.value as point, c.path, t.name as metric, m.mean, m.median, m.minimum, m.maximum, m.std, m.repetitions from measurement m join context c on c.id = m.context '
                'join metric t on t.id = m.metric join coordinate p on p.point = m.point and p.parameter = 0')


def with_regions(n, slower=0, more=None, flavour=None):
    """main lasts 1000 n + slower ns, of which calls take 20 + 100 + 50; its kernel 50 n, its copy 70, its wait 40."""
    x = Export(*([flavour] if flavour else []))
    x.region('main', 0, 1000 * n + slower)
    x.launch('k', (10, 30), (40, 40 + 50 * n))
    x.call('cudaMemcpy_v3020', 600, 700)
    x.copy(TO_DEVICE, 610, 680, 64 * n, source=PINNED)
    x.call('cudaDeviceSynchronize_v3020', 800, 850)
    x.sync(4, 805, 845)
    if more:
        x.region('main->' + more, 900, 910)
    return x


def plain(pid, n, threads=2, backwards=False):
    """Each thread has a range "step" of 100 n ns with a kernel of 30 n ns; the second one is called from thread to thread in another order."""
    x = Export()
    order = list(range(threads))
    for k in reversed(order) if backwards else order:
        t = global_tid(pid, pid + 3 * k)
        x.range(f'step {k}', 1000 * k, 1000 * k + 100 * n, thread=t)
        x.call('cudaLaunchKernel_v7000', 1000 * k + 10, 1000 * k + 20, thread=t)
        x.kernel('saxpy', 1000 * k + 30, 1000 * k + 30 + 30 * n, process=global_pid(t))
    return x


class Sets(Case):
    def put(self, name, export):
        path = self.path(name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        return export.write(path)

    def sql(self, statement, *options):
        result = run('sql', '--json', *options, self.folder, statement)
        self.assertFine(result)
        return result.json

    def measurements(self):
        return {(r['point'], r['path'], r['metric']): r for r in self.sql(MEASUREMENTS)}

    def assertMeasured(self, row, values):
        """values in nanoseconds."""
        self.assertEqual(len(values), row['repetitions'])
        for key, value in (('mean', statistics.fmean(values)), ('median', statistics.median(values)), ('minimum', min(values)), ('maximum', max(values)), ('std', statistics.pstdev(values))):
            self.assertAlmostEqual(value, row[key] * 1e9, places=6, msg=key)

    def test_points_and_runs(self):
        """Points in ascending order of numbers, a run for each file; ranks are numbers of files in their directories."""
        for name, n in (('app.n10.q5.r1/only', 10), ('app.n2.q5.r1/rank1', 2), ('app.n2.q5.r1/rank0', 2), ('app.n2.q5.r2/rank0', 2)):
            self.put(name + '.sqlite', with_regions(n))
        self.write('app.n2.q5.r1/.hidden.sqlite', 'no database')
        self.write('app.n2.q5.r1/notes.txt', 'no database')
        self.write('app.n77.sqlite', 'no database')         # beside directories it is no point
        info = run('info', '--json', self.folder).json
        expected = {'format': 'nsight-set', 'format_version': None, 'runs': 4, 'points': 2, 'parameters': ['n'], 'locations': 0, 'events': 0, 'problems': []}
        self.assertEqual(expected, {k: info[k] for k in expected})
        rows = self.sql('select r.repetition, r.source, c.value as n, a.value as rank from run r join coordinate c on c.point = r.point join attribute a on a.owner = \'run\' and a.owner_id = r.id '
                        'and a.key = \'rank\' order by r.id')
        self.assertEqual([('app.n2.q5.r1/rank0', 2, 0, 0), ('app.n2.q5.r1/rank1', 2, 1, 1), ('app.n2.q5.r2/rank0', 2, 2, 0), ('app.n10.q5.r1/only', 10, 0, 0)],
                         [(os.path.relpath(r['source'], self.folder)[:-7], r['n'], r['repetition'], int(r['rank'])) for r in rows])

    def test_measurements(self):
        """Ranks and repetitions of a point are samples alike."""
        for i, slower in enumerate((0, 30, 90)):
            self.put(f'app.n1.r{i}/a.sqlite', with_regions(1, slower))
        self.put('app.n4.r1/a.sqlite', with_regions(4))
        rows = self.measurements()
        self.assertMeasured(rows[1, 'main', 'time'], [830, 860, 920])
        self.assertMeasured(rows[4, 'main', 'time'], [3830])
        for n, count in ((1, 3), (4, 1)):
            for path, metric, value in ((LAUNCH, 'time', 20), (LAUNCH + '->GPU k', 'time', 50 * n), (LAUNCH + '->GPU k', 'gpu_time', 50 * n), (COPY, 'time', 30), (COPY + '->BLOCKING HOST_TO_DEVICE', 'time', 70),
                                        (SYNC, 'time', 50), (SYNC + '->WAIT', 'time', 40)):
                self.assertMeasured(rows[n, path, metric], count * [value])
            self.assertEqual(64 * n, rows[n, COPY + '->BLOCKING HOST_TO_DEVICE', 'bytes_transferred']['mean'])
            self.assertEqual(1, rows[n, LAUNCH + '->GPU k', 'visits']['mean'])
        self.assertEqual([{'n': 0}], self.sql('select count(*) as n from value where location is not null'))
        kinds = {r['path']: r['kind'] for r in self.sql('select c.path, r.kind from context c join region r on r.id = c.region')}
        self.assertEqual(('region', 'launch', 'kernel', 'memcpy', 'sync', 'wait'), tuple(kinds[p] for p in ('main', LAUNCH, LAUNCH + '->GPU k', COPY + '->BLOCKING HOST_TO_DEVICE', SYNC, SYNC + '->WAIT')))

    def test_paths_that_points_lack(self):
        """They are told, and have statistics over the files that have them."""
        self.put('n1/a.sqlite', with_regions(1, more='seldom'))
        self.put('n1/b.sqlite', with_regions(1))
        self.put('n2/a.sqlite', with_regions(2))
        rows = self.measurements()
        self.assertEqual(1, rows[1, 'main->seldom', 'time']['repetitions'])
        self.assertMeasured(rows[1, 'main->seldom', 'time'], [10])
        self.assertMeasured(rows[1, 'main', 'time'], [820, 830])
        self.assertNotIn((2, 'main->seldom', 'time'), rows)
        problems = run('info', '--json', self.folder).json['problems']
        self.assertEqual([('warning', 'missing-points')], [(p['severity'], p['rule']) for p in problems])
        self.assertIn('main->seldom', problems[0]['message'])

    def test_what_files_say(self):
        """What all say belongs to the set, the rest to the runs."""
        for n in (1, 2):
            x = with_regions(n)
            x.row('EXPORT_META_DATA', name='EXPORT_HOST', value=f'node{n}')
            self.put(f'n{n}/a.sqlite', x)
        rows = self.sql("select owner, owner_id, key, value from attribute where key like 'EXPORT_%'")
        self.assertIn({'owner': 'dataset', 'owner_id': 0, 'key': 'EXPORT_SCHEMA_VERSION', 'value': '2.9.1'}, rows)
        self.assertEqual([('run', 0, 'node1'), ('run', 1, 'node2')], [(r['owner'], r['owner_id'], r['value']) for r in rows if r['key'] == 'EXPORT_HOST'])

    def test_models(self):
        for n in (1, 2, 3, 4, 5):
            self.put(f'n{n}/a.sqlite', with_regions(n))
        result = run('model', '--json', self.folder)
        self.assertEqual(0, result.status, result)
        models = {(m['callpath'], m['metric']): m for m in result.json['models']}
        kernel = models[LAUNCH + '->GPU k', 'time']
        self.assertEqual('n', kernel['growth'])
        self.assertAlmostEqual(50e-9, kernel['terms'][0]['coefficient'], places=12)
        self.assertEqual('n', models['main', 'time']['growth'])
        self.assertEqual('1', models[SYNC, 'time']['growth'])
        self.assertEqual('n', models[COPY + '->BLOCKING HOST_TO_DEVICE', 'bytes_transferred']['growth'])
        tree = run('tree', '--json', '--all', self.folder).json
        nodes = self.nodes(tree)
        self.assertEqual({SYNC + '->WAIT', 'main->GPU IDLE'}, {n['path'] for n in nodes if n.get('aside')})
        whole = sum((5000, 50 * 5))                         # main with its calls, and the kernel; the copy is in its call
        self.assertAlmostEqual(whole, tree['root']['values']['time']['inclusive'] * 1e9, places=6)

    @staticmethod
    def nodes(tree):
        found, left = [], [tree['root']]
        while left:
            found.append(left.pop())
            left += found[-1]['children']
        return found

    def test_merge(self):
        """Two sets become one; contexts stay what they are."""
        for name, numbers in (('a', (1, 2)), ('b', (2, 4))):
            for n in numbers:
                self.put(f'{name}/n{n}/a.sqlite', with_regions(n))
        result = run('merge', '--json', '--all', '--run', 'n=2', self.path('a'), self.path('b'))
        self.assertFine(result)
        nodes = {n['path']: n for n in self.nodes(result.json)}
        self.assertEqual(('kernel', 'wait', True), (nodes[LAUNCH + '->GPU k']['kind'], nodes[SYNC + '->WAIT']['kind'], nodes[SYNC + '->WAIT']['aside']))
        self.assertAlmostEqual(100, nodes[LAUNCH + '->GPU k']['values']['time']['exclusive'] * 1e9, places=6)

    def test_plain_exports(self):
        """Processes and threads are called by their order: numbers differ from run to run."""
        for n, pid in ((1, 700), (2, 300), (4, 9000)):
            self.put(f'n{n}/a.sqlite', plain(pid, n, backwards=n == 2))
        rows = self.measurements()
        for n in (1, 2, 4):
            for k in (0, 1):
                above = f'process 0->thread {k}->step {k}'
                self.assertMeasured(rows[n, above, 'time'], [100 * n - 10])
                self.assertMeasured(rows[n, above + '->cudaLaunchKernel_v7000->GPU saxpy', 'gpu_time'], [30 * n])
        self.assertEqual(['process', 'thread'], sorted({r['kind'] for r in self.sql("select r.kind from context c join region r on r.id = c.region where c.name like 'process%' or c.name like 'thread%'")}))
        self.assertEqual([], run('info', '--json', self.folder).json['problems'])

    def test_schemas_may_differ(self):
        self.put('n1/a.sqlite', with_regions(1))
        self.put('n2/a.sqlite', with_regions(2, flavour=CURRENT))
        rows = self.measurements()
        self.assertMeasured(rows[1, LAUNCH + '->GPU k', 'time'], [50])
        self.assertMeasured(rows[2, LAUNCH + '->GPU k', 'time'], [100])

    def test_one_point(self):
        """keeps all its parameters."""
        self.put('app.n1.q3.r1/a.sqlite', with_regions(1))
        self.put('app.n1.q3.r2/a.sqlite', with_regions(1, 10))
        info = run('info', '--json', self.folder).json
        self.assertEqual((['n', 'q'], 1, 2), (info['parameters'], info['points'], info['runs']))

    def test_files_named_like_points(self):
        for n in (1, 2):
            self.put(f'app.n{n}.r1.sqlite', with_regions(n))
        self.put('.app.n3.sqlite', with_regions(3))
        info = run('info', '--json', self.folder).json
        self.assertEqual(('nsight-set', ['n'], 2, 2), tuple(info[k] for k in ('format', 'parameters', 'points', 'runs')))
        self.put('other.sqlite', with_regions(3))
        self.assertFails(run('info', self.folder), 3, "the file 'other' names no point")

    def test_names_that_are_refused(self):
        for names, words in ((('app', 'bpp'), "the directory 'app' names no point"), (('app.n1', 'app.m2'), "'app.n1' has the parameters n, 'app.m2' has m"), (('my.app.n1', 'my.app.n2'), "'my.app.n1'"),
                             (('app.n1x', 'app.n2x'), "'app.n1x'"), (('app.1', 'app.2'), "'app.1'")):
            for name in names:
                self.put(name + '/a.sqlite', with_regions(1))
            self.assertFails(run('info', self.folder), 3, words)
            for name in names:
                shutil.rmtree(self.path(name))

    def test_nothing_to_read(self):
        self.assertFails(run('info', self.folder), 3)
        self.assertFails(run('info', '--from', 'nsight-set', self.folder), 3, 'DIR/POINT/FILE.sqlite')
        path = self.write('file', 'x')
        self.assertFails(run('info', '--from', 'nsight-set', path), 3, 'is a file')

    def test_one_bad_file(self):
        """fails the set; of several the first one is named, however many are read at a time."""
        for n in range(1, 7):
            self.put(f'app.n{n}/a.sqlite', with_regions(n))
        good = self.read('app.n1/a.sqlite')
        for n, bad in ((5, b'no database'), (3, good[:len(good) // 2])):
            self.write(f'app.n{n}/a.sqlite', bad)
        for _ in range(3):
            self.assertFails(run('info', self.folder), 3, 'app.n3/a.sqlite')
        self.write('app.n3/a.sqlite', b'')
        self.assertFails(run('model', self.folder), 3, 'app.n3/a.sqlite')

    def test_inputs_stay_as_they_are(self):
        for n in (1, 2):
            self.put(f'n{n}/a.sqlite', with_regions(n))

        def state():
            found = []
            for folder, _, files in os.walk(self.folder):
                for name in files:
                    with open(os.path.join(folder, name), 'rb') as f:
                        found.append((folder, name, hashlib.sha256(f.read()).hexdigest(), os.stat(f.name).st_mtime_ns))
            return sorted(found)
        before = state()
        self.sql('select count(*) from value')
        self.assertEqual(before, state())

    def test_conversion(self):
        """To Extra-P's formats, and back: the same models."""
        for n in (1, 2, 3, 4, 5):
            self.put(f'n{n}/a.sqlite', with_regions(n))
        for target in ('out.extra-p', 'out.jsonl'):
            result = run('convert', self.folder, self.path(target))
            self.assertEqual(0, result.status, result)
            models = {(m['callpath'], m['metric']): m['function'] for m in run('model', '--json', self.path(target)).json['models']}
            own = {(m['callpath'], m['metric']): m['function'] for m in run('model', '--json', self.folder).json['models']}
            self.assertEqual(own, models)
            os.remove(self.path(target))


if __name__ == '__main__':
    main()
