"""diff, flame --diff and compare of metrics that the two files call by names of their own, or measure in other units. Arithmetic is by hand: 3 s and 4000 ms are 3 and 4."""
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from common import Case, main, run
from cubex import processes, profile


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
