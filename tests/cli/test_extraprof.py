"""Extra-Prof profiles and sets of them, as users see them. Expected numbers are worked out by hand."""
import os

from common import Case, main, run
from extraprof import ASYNC, KERNEL, LAUNCH, MEMCPY, OVERLAP, OVERLAPS, node, oldest, pack, profile

NAME = 'profile.extra-prof.msgpack'
KERNEL_NAME = '_Z4axpyIdEvPT_i'
SECOND = 1000000000
MEASUREMENTS = '''select p.label as point, c.path, t.name as metric, m.mean, m.median, m.minimum, m.maximum, m.std, m.repetitions from measurement m
    join context c on c.id = m.context join metric t on t.id = m.metric join point p on p.id = m.point'''


def gpu_call(scale=1):
    """A launch of a kernel that a copy overlaps for a while."""
    partner = node('Memcpy DtoH', 20 * scale, type_=MEMCPY, flags=OVERLAPS, visits=0)
    return node(KERNEL_NAME, 50 * scale, node(KERNEL_NAME, 900 * scale, node('OVERLAP', 30 * scale, partner, type_=OVERLAP, flags=OVERLAPS, visits=0), type_=KERNEL, flags=ASYNC), type_=LAUNCH)


class ExtraProf(Case):
    def sql(self, path, statement, *options):
        result = run('sql', '--json', *options, path, statement)
        self.assertFine(result)
        return result.json

    def values(self, path, *options, metric='time'):
        rows = self.sql(path, f"select c.path, sum(v.value) as s from value v join context c on c.id = v.context join metric m on m.id = v.metric where m.name = '{metric}' group by c.path", *options)
        return {r['path']: round(r['s'] * (SECOND if metric == 'time' else 1), 6) for r in rows}


class Profiles(ExtraProf):
    def test_info(self):
        for data, version in ((profile(node('main', 5)), '1.0'), (profile(node('main', 5), version='7'), '7'), (oldest(node('main', 5)), None)):
            info = run('info', '--json', self.write(NAME, data))
            self.assertFine(info)
            self.assertEqual(('extra-prof', version, 1, 0, [], 1, 0), tuple(info.json.get(k) for k in ('format', 'format_version', 'runs', 'points', 'parameters', 'contexts', 'locations')))
            self.assertEqual([] if version != '7' else ['version'], [p['rule'] for p in info.json['problems']])

    def test_the_name_decides_nothing(self):
        for name in ('x', 'profile.json', 'a.cubex'):
            self.assertEqual('extra-prof', run('info', '--json', self.write(name, profile(node('main', 5)))).json['format'])

    def test_values(self):
        path = self.write(NAME, profile(node('main', 1000, gpu_call(), node('f<int>(int)', 100, bytes_=7), node('f<char>(int)', 10, bytes_=1))))
        launch = 'main->LAUNCH void axpy(double*, int)'
        self.assertEqual({'main': 840, launch: 50, launch + '->GPU void axpy(double*, int)': 870, launch + '->GPU void axpy(double*, int)->OVERLAP': 30,
                          launch + '->GPU void axpy(double*, int)->OVERLAP->GPU Memcpy DtoH': 20, 'main->f(int)': 110}, self.values(path))
        self.assertEqual({'main->f(int)': 8}, self.values(path, metric='bytes'))
        self.assertEqual([{'name': 'GPU void axpy(double*, int)', 'mangled': KERNEL_NAME}], self.sql(path, "select name, mangled from region where kind = 'kernel'"))
        self.assertEqual([{'value': 'true'}], self.sql(path, "select value from attribute where key = 'tags:gpu__kernel'"))

    def test_tree_leaves_partners_out_of_sums(self):
        path = self.write(NAME, profile(node('main', 1000, gpu_call())))
        main_node = run('tree', '--json', path).json['root']
        self.assertAlmostEqual(1.9e-6, main_node['values']['time']['inclusive'], 15)  # 950 + 50 + 870 + 30
        self.assertAlmostEqual(0.95e-6, main_node['values']['time']['exclusive'], 15)
        for verb in ('tree', 'top', 'stat'):
            self.assertFine(run(verb, path))

    def test_options(self):
        threads = node('main', [300, 100], node('k', [100, 50], type_=KERNEL, flags=ASYNC, visits=[1, 1], bytes_=[0, 0]), visits=[1, 2], bytes_=[0, 0])
        path = self.write(NAME, profile(threads, gpu=[]))
        self.assertEqual({'main': 200, 'main->GPU k': 75}, self.values(path))
        self.assertEqual({'main': 400, 'main->GPU k': 150}, self.values(path, '-O', 'scaling=strong'))
        self.assertEqual({'main': 200, 'main->GPU k': 150}, self.values(path, '-O', 'sum_gpu=yes'))
        self.assertEqual({'main': 1.5, 'main->GPU k': 1}, self.values(path, metric='visits'))
        self.assertFails(run('info', '-O', 'scaling=weak', path), 2, 'weak_threaded')
        self.assertFails(run('info', '-O', 'sum_gpus=yes', path), 2, 'sum_gpu')

    def test_nothing_is_dropped_in_silence(self):
        path = self.write(NAME, profile(node('main', 100, node('f', 10, node('g', 50, node('h', 1))))))
        self.assertEqual({'main': 90, 'main->f': 10}, self.values(path))
        problem = run('info', '--json', path).json['problems'][0]
        self.assertEqual(('warning', 'subtree-dropped', path), (problem['severity'], problem['rule'], problem['file']))
        for word in ("'main->f'", '2 call paths are', '-O concurrent_threads=yes'):
            self.assertIn(word, problem['message'])
        self.assertEqual({'main': 90, 'main->f': 10, 'main->f->g': 49, 'main->f->g->h': 1}, self.values(path, '-O', 'concurrent_threads=yes'))
        self.assertEqual({'main': 100, 'main->f': 10, 'main->f->g': 50, 'main->f->g->h': 1}, self.values(path, '-O', 'inclusive=yes'))
        self.assertEqual([], run('info', '--json', '-O', 'inclusive=yes', path).json['problems'])

    def test_energy(self):
        energies = [['energy_cpu', 1], ['energy_gpu', 2]]
        path = self.write(NAME, profile(node('main', [100], node('f', [10], visits=[1], bytes_=[0], extended=[[30], [5]]), visits=[1], bytes_=[0], extended=[[100], [50]]), extended=energies))
        self.assertEqual({'main': 70, 'main->f': 30}, self.values(path, metric='energy_cpu'))
        self.assertEqual({'main': 45, 'main->f': 5}, self.values(path, metric='energy_gpu'))
        self.assertEqual(['uJ', 'uJ'], [m['unit'] for m in run('info', '--json', path).json['metrics'] if m['name'].startswith('energy')])

    def test_convert(self):
        path = self.write(NAME, profile(node('main', 1000, node('f', 100)), gpu=[]))
        for out in ('out.cubex', 'out.sqlite'):
            result = run('convert', path, self.path(out))
            self.assertEqual(0, result.status, result)
        self.assertEqual({'main': 900, 'main->f': 100}, self.values(self.path('out.cubex')))
        self.assertFails(run('convert', '--to', 'extra-prof', path, self.path('x')), 2, 'extra-prof')

    def test_two_profiles(self):
        a, b = self.write('a', profile(node('main', 1000, node('f', 100)))), self.write('b', profile(node('main', 1500, node('f', 400))))
        result = run('diff', '--json', a, b)
        self.assertEqual(0, result.status, result)
        self.assertIn('f', result.out)

    def test_refused(self):
        cases = {'a wrong magic': (pack(['EXTRA PROG', '1.0', ['', [], 0, 4, 0, 0, 0]]), 1), 'an unknown type': (profile(node('main', 1, type_=9)), 26),
                 'a root with a name': (pack(['EXTRA PROF', '1.0', ['x', [], 0, 4, 0, 0, 0]]), 17), 'a root with a time': (pack(['EXTRA PROF', '1.0', ['', [], 0, 4, 5, 0, 0]]), 21),
                 'nothing': (b'', 0), 'one byte': (profile(node('main', 1))[:1], 0), 'a cut': (profile(node('main', 1))[:-1], 35), 'a huge array': (b'\xdd\xff\xff\xff\xff' + profile()[1:], 0),
                 'nesting without end': (b'\x93\xaaEXTRA PROF\xa31.0' + b'\x97\xa0\x91' * 100000, 16 + 3 * 1025)}
        for what, (data, offset) in cases.items():
            with self.subTest(what):
                path = self.write(NAME, data)
                for verb in (('info',), ('sql', '--json'), ('tree',)):
                    self.assertFails(run(*verb, path, *(['select 1'] if verb[0] == 'sql' else [])), 3, path)
                report = run('validate', '--json', path)
                self.assertEqual(1, report.status, report)
                self.assertEqual([('error', offset)], [(p['severity'], p['offset']) for p in report.json])

    def test_the_input_is_unchanged(self):
        path = self.write(NAME, profile(node('main', 1)))
        os.chmod(path, 0o444)
        before, listing = (os.stat(path).st_mtime_ns, self.read(NAME)), self.files()
        self.assertFine(run('info', path))
        self.assertEqual((before, listing), ((os.stat(path).st_mtime_ns, self.read(NAME)), self.files()))


class Sets(ExtraProf):
    def put(self, point, data, name=NAME):
        os.makedirs(self.path(f'set/{point}'), exist_ok=True)
        self.write(f'set/{point}/{name}', data)

    def rows(self, *options):
        return {(r['path'], r['metric'], r['point']): r for r in self.sql(self.path('set'), MEASUREMENTS, *options)}

    def test_samples(self):
        self.put('app.p1.r1', profile(node('main', 5 * SECOND, node('f', SECOND))), 'rank0.extra-prof.msgpack')
        self.put('app.p1.r1', profile(node('main', 7 * SECOND)), 'rank1.extra-prof.msgpack')
        self.put('app.p2.r1', oldest(node('main', 3 * SECOND)))
        info = run('info', '--json', self.path('set')).json
        self.assertEqual(('extra-prof-set', None, 3, 2, ['p']), tuple(info.get(k) for k in ('format', 'format_version', 'runs', 'points', 'parameters')))
        rows = self.rows()
        f = rows['main->f', 'time', '(1)']  # 1 s and nothing
        self.assertEqual((0.5, 0.5, 0, 1, 0.5, 2), tuple(f[k] for k in ('mean', 'median', 'minimum', 'maximum', 'std', 'repetitions')))
        self.assertEqual((5.5, 2), (rows['main', 'time', '(1)']['mean'], rows['main', 'time', '(1)']['repetitions']))
        self.assertNotIn(('main->f', 'time', '(2)'), rows)
        self.assertEqual([{'value': '0'}, {'value': '1'}, {'value': '0'}], [{'value': str(r['value'])} for r in self.sql(self.path('set'), "select value from attribute where key = 'rank' order by owner_id")])

    def test_generations_and_counters_together(self):
        counters = profile(node('main', [], node(KERNEL_NAME, [], type_=LAUNCH, visits=[], bytes_=[], gpu=[12]), visits=[], bytes_=[], gpu=[]), gpu=['inst'])
        self.put('app.p1', profile(node('main', 4 * SECOND, node(KERNEL_NAME, SECOND, type_=LAUNCH))))
        self.put('app.p1', counters, 'profile-hwc.extra-prof.msgpack')
        self.put('app.p2', profile(node('main', [2 * SECOND], visits=[1], bytes_=[0]), gpu=[]))
        self.put('app.p4', oldest(node('main', SECOND)))
        rows = self.rows()
        self.assertEqual([(3, 1), (2, 1), (1, 1)], [(rows['main', 'time', p]['mean'], rows['main', 'time', p]['repetitions']) for p in ('(1)', '(2)', '(4)')])
        self.assertEqual(12, rows['main->LAUNCH void axpy(double*, int)', 'inst', '(1)']['mean'])
        self.assertEqual(4, run('info', '--json', self.path('set')).json['runs'])

    def test_model_and_convert(self):
        for p in (2, 4, 8, 16, 32):
            self.put(f'app.p{p}', profile(node('main', p * p * SECOND + 3 * SECOND, node('f', 3 * SECOND), gpu_call(SECOND // 1000 * p))))
        models = {m['callpath']: m for m in run('model', '--json', '--metric', 'time', self.path('set')).json['models']}
        self.assertEqual('3', models['main->f']['function'].split('.')[0])
        terms = models['main->LAUNCH void axpy(double*, int)->GPU void axpy(double*, int)']['terms']
        self.assertEqual([('p', '1', '0')], [(f['parameter'], f['exponent'], f['log_exponent']) for t in terms for f in t['factors']])
        self.assertAlmostEqual(0.87, terms[0]['coefficient'])  # 900 - 30 thousandths
        before = self.rows()
        for out in ('out.txt', 'out.jsonl', 'out.json', 'out.extra-p'):
            with self.subTest(out):
                self.assertEqual(0, run('convert', self.path('set'), self.path(out)).status)
                after = {(r['path'], r['metric'], r['point']): r for r in self.sql(self.path(out), MEASUREMENTS)}
                self.assertEqual({k: v['mean'] for k, v in before.items()}, {k: v['mean'] for k, v in after.items()})
        self.assertIn({'value': 'true'}, self.sql(self.path('out.extra-p'), "select value from attribute where key = 'tags:gpu__kernel'"))

    def test_refused(self):
        cases = [({'app': profile()}, 'app'), ({'app.n1': profile(), 'app.m2': profile()}, 'app.m'), ({'app.n1': profile(node('main', 1)), 'app.n2': b'garbage'}, 'app.n2')]
        for n, (points, word) in enumerate(cases):
            for point, data in points.items():
                os.makedirs(self.path(f'{n}/{point}'))
                self.write(f'{n}/{point}/{NAME}', data)
            self.assertFails(run('info', '--json', self.path(str(n))), 3, word)
        os.mkdir(self.path('empty'))
        self.assertFails(run('info', self.path('empty')), 3)
        os.mkdir(self.path('lone'))
        self.write('lone/' + NAME, profile(node('main', 1)))
        self.assertFails(run('info', self.path('lone')), 3, 'give that file')

    def test_one_point_and_dot_files(self):
        self.put('app.n3.q7', profile(node('main', 1)))
        self.put('app.n3.q7', b'garbage', '.hidden.extra-prof.msgpack')
        info = run('info', '--json', self.path('set')).json
        self.assertEqual((['n', 'q'], 1, 1), (info['parameters'], info['points'], info['runs']))
        self.assertEqual((1e-9, 1), tuple(self.rows()['main', 'time', '(3,7)'][k] for k in ('mean', 'repetitions')))


if __name__ == '__main__':
    main()
