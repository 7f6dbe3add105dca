"""diff, flame --diff and compare of metrics that the two files call by names of their own, or measure in other units. Arithmetic is by hand: 3 s and 4000 ms are 3 and 4."""
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from common import Case, main, run
from cubex import anchor, index, metric, processes, profile, rows, tar, tree


class MetricPairs(Case):
    def file(self, name, *metrics):
        """metrics: (name, unit, the value of main, that of f below it)."""
        made = profile([(m, 'UINT64', 'EXCLUSIVE', ((a,), (b,))) for m, _, a, b in metrics], 'main(f)', processes(1))
        units = iter(metrics)
        return self.write(name, re.sub(b'<uom>sec</uom>', lambda found: f'<uom>{next(units)[1]}</uom>'.ljust(len(found[0])).encode(), made))

    def setUp(self):
        super().setUp()
        self.a = self.file('a.cubex', ('wall', 'sec', 2, 1), ('calls', 'occ', 10, 20))
        self.b = self.file('b.cubex', ('cpu', 'ms', 3000, 1000), ('other', 'ms', 500, 1500), ('samples', '#', 11, 5))

    def values(self, metric, *options):
        """Inclusive and exclusive values of main, inclusive ones of f, on both sides."""
        answer = run('diff', self.a, self.b, '--json', *options).json
        self.assertEqual([metric], answer['metrics'])
        flat = run('diff', self.a, self.b, '--json', '--flat', *options).json['root']['children']
        trees = [answer['root'], answer['root']['children'][0]]
        for node, function in zip(trees, sorted(flat, key=lambda n: n['name'] != 'main')):
            self.assertEqual(node['values'], function['values'])
        return [tuple(node['values'][metric][side][kind] for side in ('base', 'target', 'change')) for node, kind in ((trees[0], 'inclusive'), (trees[0], 'exclusive'), (trees[1], 'inclusive'))]

    def test_two_names(self):
        self.assertEqual([(3, 4, 1), (2, 3, 1), (1, 1, 0)], self.values('wall', '--metric-a', 'wall', '--metric-b', 'cpu'))
        self.assertEqual([(3, 2, -1), (2, .5, -1.5), (1, 1.5, .5)], self.values('wall', '--metric-b', 'other'))
        self.assertEqual([(30, 16, -14), (10, 11, 1), (20, 5, -15)], self.values('calls', '--metric', 'calls', '--metric-b', 'samples'))
        answer = run('diff', self.a, self.b, '--json', '--metric-b', 'other')
        self.assertEqual(('other', ''), (answer.json['target_metric'], answer.err))
        self.assertIn('a.cubex → b.cubex  wall → other: 3.000 s → 2.000 s, -1.000 s (-33.3 %)', run('diff', self.a, self.b, '--metric-b', 'other').out)

    def test_no_metric_in_common(self):
        """The main ones, as the viewer has it, and it is said."""
        result = run('diff', self.a, self.b)
        self.assertIn("no metric in common: 'wall' of", result.err)
        self.assertIn('wall → cpu: 3.000 s → 4.000 s', result.out)
        bytes_only = self.file('bytes.cubex', ('size', 'B', 1, 1))
        result = run('diff', self.a, bytes_only)
        self.assertIn('no metric in common, nor main ones of one unit', result.err)
        self.assertNotIn('→ size', result.out)
        # Nothing says that x and y are one thing
        plain = [self.write(f'{name}.txt', f'PARAMETER p\nPOINTS 1\nMETRIC {name}\nREGION main\nDATA 1\n') for name in 'xy']
        self.assertIn('nor main ones of one unit', run('diff', *plain).err)

    def test_one_name_and_two_units(self):
        a, b = self.file('s.cubex', ('time', 'sec', 2, 1)), self.file('ms.cubex', ('time', 'ms', 2000, 500))
        self.assertIn('time 3.000 s → 2.500 s, -0.500 s (-16.7 %)', run('diff', a, b).out)
        self.assertEqual(['main 2 2', 'main;f 1 0.5'], run('flame', '--diff', a, b).out.splitlines())

    def written(self, *command):
        """What a verb writes: of each metric its unit, and the exclusive values of main and f. Notes beside it."""
        made = self.path('made.cubex')
        result = run(*command, '-o', made)
        self.assertEqual(0, result.status, result.err)
        rows = run('sql', '--json', made, '''select m.name, m.unit, sum(case c.name when 'main' then v.value else 0 end) main, sum(case c.name when 'f' then v.value else 0 end) f
                   from metric m left join value v on v.metric = m.id left join context c on c.id = v.context group by m.id order by m.id''').json
        return {row['name']: (row['unit'], row['main'], row['f']) for row in rows}, result.err

    def test_one_name_and_two_units_written(self):
        a, b = self.file('s.cubex', ('time', 'sec', 2, 1), ('n', 'occ', 3, 4)), self.file('ms.cubex', ('time', 'ms', 2500, 500), ('n', '#', 5, 6))
        self.assertEqual(({'time': ('sec', .5, -.5), 'n': ('occ', 2, 2)}, ''), self.written('diff', a, b))
        self.assertEqual(({'time': ('ms', -500, 500), 'n': ('#', -2, -2)}, ''), self.written('diff', b, a))
        self.assertEqual(({'time': ('sec', 2.25, .75), 'n': ('occ', 4, 5)}, ''), self.written('mean', a, b))
        self.assertEqual(({'time': ('ms', 2250, 750), 'n': ('#', 4, 5)}, ''), self.written('mean', b, a))
        self.assertEqual(({'time': ('sec', 2.5, .5), 'n': ('occ', 5, 6)}, ''), self.written('merge', a, b))
        self.assertEqual(({'time': ('ms', 2000, 1000), 'n': ('#', 3, 4)}, ''), self.written('merge', b, a))
        # What has no unit is in that of others, which is still heeded among these
        plain = self.file('plain.cubex', ('time', '', 8, 2))
        self.assertEqual(({'time': ('sec', 4, 1)}, ''), self.written('mean', plain, self.file('s2.cubex', ('time', 'sec', 2, 0)), self.file('ms2.cubex', ('time', 'ms', 2000, 1000))))

    def test_units_that_do_not_go_together(self):
        a, b = self.file('b.cubex', ('size', 'B', 2, 1), ('time', 'sec', 1, 1)), self.file('kb.cubex', ('size', 'kB', 3, 4), ('time', 'sec', 2, 3))
        made, notes = self.written('diff', a, b)
        self.assertEqual({'time': ('sec', 1, 2)}, made)
        self.assertIn('left out, as they have other units in the target than in the base: size', notes)
        made, notes = self.written('mean', a, b)
        self.assertEqual({'time': ('sec', 1.5, 2)}, made)
        self.assertIn('left out, as their units are not the same in all files: size', notes)
        made, notes = self.written('merge', a, b)
        self.assertEqual({'size': ('B', 2, 1), 'time': ('sec', 2, 3)}, made)
        self.assertIn("kb.cubex: metric 'size' has another unit here and is left out", notes)
        self.assertIn(f"the unit of 'size' is 'B' in {a} and 'kB' in {b}: numbers are compared as they are", run('diff', a, b, '--metric', 'size').err)

    def test_formulas_of_another_unit(self):
        """What the second file derives from milliseconds means nothing where these have become seconds."""
        a = self.file('s.cubex', ('time', 'sec', 2, 1))
        metrics = metric(0, 'time').replace('sec', 'ms') + metric(1, 'n') + ''.join(
            metric(i, name, kind='POSTDERIVED', inside=f'<cubepl>{text}</cubepl>') for i, name, text in ((2, 'each', 'metric::time() / metric::n()'), (3, 'double', '2 * metric::n()')))
        members = {name: content for i in range(2) for name, content in ((f'{i}.index', index([0, 1])), (f'{i}.data', rows('DOUBLE', ((2,), (4,)))))}
        derived = self.write('derived.cubex', tar({**members, 'anchor.xml': anchor(metrics, tree('main(f)'), processes(1))}))
        for verb in ('mean', 'merge'):
            made, notes = self.written(verb, a, derived)
            self.assertNotIn('each', made)
            self.assertIn('double', made)
            self.assertIn('derived from metrics that are in other units here: each', notes)
            self.assertIn('each', self.written(verb, derived, a)[0])

    def test_one_experiment_has_one_unit(self):
        for folder, unit, points in (('s', 'sec', (1, 2)), ('ms', 'ms', (4, 8)), ('more', 'sec', (4, 8)), ('none', '', (16, 32))):
            for p in points:
                os.makedirs(self.path(f'{folder}/app.p{p}.r1'))
                os.rename(self.file('a-point.cubex', ('time', unit, 2, 1)), self.path(f'{folder}/app.p{p}.r1/profile.cubex'))
        self.assertFails(run('convert', self.path('s'), self.path('ms'), self.path('out.extra-p')), 3, "the unit of 'time' is 'ms' here, but 'sec' in an input before")
        self.assertEqual(0, run('convert', '-q', self.path('s'), self.path('more'), self.path('out.extra-p')).status)
        self.assertEqual(4, run('info', '--json', self.path('out.extra-p')).json['points'])
        # a part that says none has that of the first that says one
        self.assertFails(run('convert', self.path('none'), self.path('s'), self.path('ms'), self.path('other.extra-p')), 3, "the unit of 'time' is 'ms' here, but 'sec' in an input before")
        self.assertEqual([{'unit': 'sec'}], run('sql', '--json', self.path('none'), self.path('s'), 'select unit from metric').json)

    def test_flame(self):
        def lines(*options):
            return run('flame', '--diff', self.a, self.b, *options).out.splitlines()
        self.assertEqual(['main 2 3', 'main;f 1 1'], lines())
        self.assertEqual(['main 2 0.5', 'main;f 1 1.5'], lines('--metric-a', 'wall', '--metric-b', 'other'))
        self.assertEqual(['main 10 11', 'main;f 20 5'], lines('--metric-a', 'calls', '--metric-b', 'samples'))
        self.assertEqual("'wall' [sec] → 'other' [ms]", run('flame', '--diff', self.a, self.b, '--json', '--metric-b', 'other').json['metric'])
        self.assertFails(run('flame', self.a, '--metric-a', 'wall'), 2, '--metric-a is about two files; add --diff')

    def test_compare(self):
        def totals(*options):
            answer = run('compare', self.a, self.b, '--json', '--fail-on', 'never', *options).json['totals']
            return [(t['metric'], t['target_metric'], t['whole']['base'], t['whole']['target']) for t in answer]
        self.assertEqual([('wall', 'other', 3, 2)], totals('--metric-a', 'wall', '--metric-b', 'other'))
        self.assertEqual([('calls', 'samples', 30, 16)], totals('--metric', 'calls', '--metric-b', 'samples'))
        self.assertIn("'wall' is compared with 'other' of the second side", run('compare', self.a, self.b, '--metric-b', 'other').out)
        self.assertFails(run('compare', self.a, self.b, '--metric-b', 'samples'), 2, 'different units')
        self.assertFails(run('compare', '--noise', self.a, '--metric-b', 'samples'), 2, 'not with --noise')

    def test_refused(self):
        for verb in (('diff',), ('flame', '--diff')):
            with self.subTest(verb):
                def fails(message, *options):
                    self.assertFails(run(*verb, self.a, self.b, *options), 2, message)
                fails("'wall' (sec) and 'samples' (#) have different units", '--metric-a', 'wall', '--metric-b', 'samples')
                fails("b.cubex: there is no metric 'cpi'; did you mean 'cpu'?", '--metric-b', 'cpi')
                fails('give --metric-a once', '--metric-a', 'wall', '--metric-a', 'calls')
                fails('give --metric once', '--metric', 'wall', '--metric', 'calls', '--metric-b', 'cpu')
        self.assertFails(run('diff', self.a, self.b, '--metric-b', 'cpu', '-o', self.path('x.cubex')), 2, 'is about what is shown')


if __name__ == '__main__':
    main()
