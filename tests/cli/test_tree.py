"""tree and top: what each view has, reckoned by hand, in every shape of the answer."""
import csv
import io
import json
import os
import re
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import cubex
from common import SMALL, Case, environment, main, run, run_on_terminal

UTF8 = environment(LC_ALL='C.UTF-8')

# f calls itself. Exclusive time of each context, in the order of the file; the whole is 93.
#
#   main 1            63 inclusive       helper 10    30
#     f 2             30                   g 20       20
#       f 4           12
#         g 8          8
#       g 16          16
#     g 32            32
TREE = 'main(f(f(g) g) g) helper(g)'
TIME = [1, 2, 4, 8, 16, 32, 10, 20]
VISITS = [1, 2, 3, 4, 5, 6000, 7, 8]


def metric(number, name, dtype, unit, kind='EXCLUSIVE'):
    return cubex.metric(number, name, dtype, kind).replace('<uom>sec</uom>', f'<uom>{unit}</uom>')


def profile(text=TREE, time=TIME, more='', members=None):
    """Times on two threads: a quarter and three quarters; visits on the second one only."""
    everywhere = list(range(len(time)))
    return cubex.tar({
        '0.index': cubex.index(everywhere), '0.data': cubex.rows('UINT64', [[0, v] for v in (VISITS * len(time))[:len(time)]]),
        '1.index': cubex.index(everywhere), '1.data': cubex.rows('DOUBLE', [[t / 4, t * 3 / 4] for t in time]), **(members or {}),
        'anchor.xml': cubex.anchor(metric(0, 'visits', 'UINT64', 'occ') + metric(1, 'time', 'DOUBLE', 'sec') + more, cubex.tree(text), cubex.system(2))})


def shown(node, metric='time'):
    """[name, inclusive, exclusive, children…] of a node and all below it."""
    v = node['values'].get(metric, {})
    return [node['name'], v.get('inclusive'), v.get('exclusive'), *(shown(c, metric) for c in node['children'])]


class TreeCase(Case):
    def setUp(self):
        super().setUp()
        self.file = self.write('a.cubex', profile())

    def json(self, *args):
        r = run('tree', '--json', self.file, *args)
        self.assertFine(r)
        return r.json

    def text(self, *args, verb='tree', env=UTF8):
        """What is printed, without the line above."""
        r = run(verb, self.file, *args, env=env)
        self.assertFine(r)
        return r.out.split('\n', 1)[1]

    def names(self, *args, verb='tree'):
        """The last column, lines of the tree and all."""
        lines = self.text(*args, verb=verb, env=environment(LC_ALL='C')).split('\n')
        at = re.search(r'(call tree|function|file|module|kind)', lines[0]).start()
        at -= 2 if ' tree' in lines[0] or 'called by' in lines[0] else 0
        return [re.sub(r'  \S+\.c(:\d+)?$', '', l[at:]) for l in lines[1:] if l and not l.startswith('...')]


class Json(TreeCase):
    def test_top_down(self):
        r = self.json()
        self.assertEqual(('top-down', ['time', 'visits']), (r['view'], r['metrics']))
        self.assertEqual(['<root>', 93, 0,
                          ['main', 63, 1, ['f', 30, 2, ['f', 12, 4, ['g', 8, 8]], ['g', 16, 16]], ['g', 32, 32]],
                          ['helper', 30, 10, ['g', 20, 20]]], shown(r['root']))
        self.assertEqual(['<root>', 6030, 0], shown(r['root'], 'visits')[:3])
        self.assertIsInstance(r['root']['values']['visits']['inclusive'], int)
        main = r['root']['children'][0]
        g = main['children'][0]['children'][0]['children'][0]
        self.assertEqual({'name': 'g', 'kind': 'function', 'path': 'main->f->f->g', 'source_id': '3', 'file': 'g.c', 'line': 3, 'module': None},
                         {k: v for k, v in g.items() if k not in ('values', 'children')})
        self.assertEqual(set(g) | {'hot'}, set(main))
        self.assertTrue(main['hot'] and main['children'][1]['hot'])

    def test_one_root_is_the_root(self):
        self.file = self.write('b.cubex', profile('main(f g)', [1, 2, 3]))
        self.assertEqual(['main', 6, 1, ['f', 2, 2], ['g', 3, 3]], shown(self.json()['root']))
        self.assertEqual(['<root>', 6, 0, ['g', 3, 3], ['f', 2, 2], ['main', 6, 1]], shown(self.json('--flat')['root']))

    def test_flat(self):
        r = self.json('--flat')
        self.assertEqual(('flat', 'region'), (r['view'], r['by']))
        self.assertEqual(['<root>', 93, 0, ['g', 76, 76], ['helper', 30, 10], ['f', 30, 6], ['main', 63, 1]], shown(r['root']))
        f = r['root']['children'][2]
        self.assertEqual(('f', 'f', '1', 'f.c', 2), (f['name'], f['path'], f['source_id'], f['file'], f['line']))
        r = self.json('--by', 'file', '--sort', 'name')
        self.assertEqual(['<root>', 93, 0, ['f.c', 30, 6], ['g.c', 76, 76], ['helper.c', 30, 10], ['main.c', 63, 1]], shown(r['root']))
        self.assertEqual(['<root>', 93, 0, ['function', 93, 93]], shown(self.json('--by', 'kind')['root']))
        self.assertEqual(['<root>', 93, 0, [None, 93, 93]], shown(self.json('--by', 'module')['root']))

    def test_bottom_up(self):
        r = self.json('--bottom-up')
        self.assertEqual('bottom-up', r['view'])
        self.assertEqual(['<root>', 93, 0,
                          ['g', 76, 76, ['main', 32, 32], ['f', 24, 24, ['main', 16, 16], ['f', 8, 8, ['main', 8, 8]]], ['helper', 20, 20]],
                          ['helper', 30, 10],
                          ['f', 30, 6, ['f', 12, 4, ['main', 12, 4]], ['main', 30, 2]],
                          ['main', 63, 1]], shown(r['root']))
        self.assertEqual('g<-f<-f<-main', r['root']['children'][0]['children'][1]['children'][1]['children'][0]['path'])

    def test_metrics_that_are_asked_for(self):
        r = self.json('--metric', 'visits')
        self.assertEqual(['visits'], r['metrics'])
        self.assertEqual(['visits'], list(r['root']['values']))
        self.assertEqual(['visits', 'time'], self.json('--metric', 'visits', '--metric', 'TIME', '--metric', 'visits')['metrics'])  # as it is displayed

    def test_cut_only_where_asked(self):
        self.assertEqual(['<root>', 93, 0, ['main', 63, 1], ['helper', 30, 10]], shown(self.json('--depth', '1')['root']))
        self.assertEqual(['<root>', 93, 0, ['main', 63, 1, ['f', 30, 2], ['g', 32, 32]], ['helper', 30, 10]], shown(self.json('--min-share', '22')['root']))

    def test_several_files(self):
        b = self.write('b.cubex', profile('main(f g)', [1, 2, 3]))
        r = run('tree', '--json', self.file, b)
        self.assertFine(r)
        self.assertEqual([(self.file, '<root>'), (b, 'main')], [(x['input'], x['root']['name']) for x in r.json])
        r = run('tree', '--json', self.file, self.path('none'), b)
        self.assertEqual(3, r.status)
        self.assertEqual(2, len(r.json))
        self.assertOneLine(r, 'none')

    def test_points_that_nobody_measured(self):
        """Of an experiment that names a larger point without values: the largest that has some."""
        document = {'parameters': [{'id': 1, 'name': 'p'}], 'metrics': [{'id': 1, 'name': 'time'}], 'callpaths': [{'id': 1, 'name': 'main'}],
                    'coordinates': [{'id': i, 'parameter_value_pairs': [{'parameter_id': 1, 'parameter_value': 2 ** i}]} for i in (1, 2, 3)],
                    'measurements': [{'id': i, 'callpath_id': 1, 'metric_id': 1, 'coordinate_id': i, 'value': 10 * i} for i in (1, 2)]}
        f = self.write('named.json', json.dumps(document))
        self.assertEqual(['main', 20], shown(run('tree', '--json', f).json['root'])[:2])
        self.assertEqual(20, run('stat', '--json', f).json['contexts'][0]['metrics']['time']['inclusive']['sum'])
        self.assertEqual('main 20\n', run('flame', '--folded', f).out)

    def test_subtrees(self):
        r = self.json('--root', 'f')
        self.assertEqual(['f', 30, 2, ['f', 12, 4, ['g', 8, 8]], ['g', 16, 16]], shown(r['root']))
        self.assertEqual('main->f->f', r['root']['children'][0]['path'])
        self.assertEqual(['<root>', 50, 0, ['f', 30, 2], ['helper', 30, 10]][0], self.json('--root', 'f', '--root', 'helper')['root']['name'])
        self.assertEqual(['<root>', 30, 0, ['g', 24, 24, ['f', 24, 24, ['f', 8, 8]]], ['f', 30, 6, ['f', 12, 4]]], shown(self.json('--root', 'f', '--bottom-up')['root']))
        r = self.json('--root', 'g')
        self.assertEqual(['g', 'g', 'g', 'g'], [c['name'] for c in r['root']['children']])

    def test_one_call_path(self):
        """--context: the outer f is 1, the g that main calls 5; one inside another is in it already."""
        self.assertEqual(shown(self.json('--context', '1')['root']), ['f', 30, 2, ['f', 12, 4, ['g', 8, 8]], ['g', 16, 16]])
        both = shown(self.json('--context', '5', '--context', '3', '--context', '1')['root'])
        self.assertEqual(both[3:], [['f', 30, 2, ['f', 12, 4, ['g', 8, 8]], ['g', 16, 16]], ['g', 32, 32]])
        for bad in '8', '-1', '1.5', 'f':
            self.assertFails(run('tree', self.file, '--context', bad), 2, 'there is no call path with the number')

    def test_hidden_nodes(self):
        """What is below stands in their place; no number changes."""
        self.assertEqual(shown(self.json('--hide', '^f$')['root'])[3:],
                         [['main', 63, 1, ['g', 8, 8], ['g', 16, 16], ['g', 32, 32]], ['helper', 30, 10, ['g', 20, 20]]])
        self.assertEqual(shown(self.json('--hide', '^(main|f)$')['root'])[3:],
                         [['g', 8, 8], ['g', 16, 16], ['g', 32, 32], ['helper', 30, 10, ['g', 20, 20]]])
        self.assertEqual(shown(self.json('--hide', 'main', '--hide', 'g', '--hide', 'helper')['root'])[3:], [['f', 30, 2, ['f', 12, 4]]])

    def test_hidden_subtrees(self):
        self.assertEqual(shown(self.json('--hide-subtree', '^f$')['root'])[3:], [['main', 63, 1, ['g', 32, 32]], ['helper', 30, 10, ['g', 20, 20]]])
        self.assertEqual(shown(self.json('--hide', 'main', '--hide-subtree', '^f')['root'])[3:], [['g', 32, 32], ['helper', 30, 10, ['g', 20, 20]]])
        # What matches only below what is hidden keeps nothing above it
        self.assertEqual(shown(self.json('--hide-subtree', 'main|helper', '--match', 'g')['root'])[3:], [])

    def test_hidden_functions(self):
        """Flat: not in the list. Bottom-up: not there, as callers passed over, or the way up ends."""
        self.assertEqual(shown(self.json('--flat', '--hide', '^f$')['root'])[3:], [['g', 76, 76], ['helper', 30, 10], ['main', 63, 1]])
        self.assertEqual(shown(self.json('--bottom-up', '--name', 'g', '--hide', '^f$')['root'])[3:],
                         [['g', 76, 76, ['main', 56, 56], ['helper', 20, 20]]])
        self.assertEqual(shown(self.json('--bottom-up', '--name', 'g', '--hide-subtree', '^f$')['root'])[3:],
                         [['g', 76, 76, ['main', 32, 32], ['helper', 20, 20]]])
        self.assertEqual([n[0] for n in shown(self.json('--bottom-up', '--hide', 'g|f')['root'])[3:]], ['helper', 'main'])

    def test_other_values(self):
        nan, inf = float('nan'), float('inf')
        more = (metric(2, 'low', 'MINDOUBLE', 'sec') + metric(3, 'rate', 'RATE', '1/s') + metric(4, 'large', 'UINT64', '#') + metric(5, 'odd', 'DOUBLE', 'J') +
                metric(6, 'pair', 'NDOUBLES(2)', ''))
        file = self.write('b.cubex', profile('main(f(g) g)', [1, 2, 3, 4], more, {
            '2.index': cubex.index([1, 3]), '2.data': cubex.rows('MINDOUBLE', [[5.0, 6.0], [4.0, 7.0]]),
            '3.index': cubex.index([2, 3]), '3.data': cubex.rows('RATE', [[(6.0, 1.0), (4.0, 2.0)], [(1.0, 1.0), (1.0, 1.0)]]),
            '4.index': cubex.index([0, 1]), '4.data': cubex.rows('UINT64', [[2 ** 63, 2 ** 62 + 1], [2 ** 63, 2 ** 63]]),
            '5.index': cubex.index([1, 2]), '5.data': cubex.rows('DOUBLE', [[nan, 1.0], [inf, 1.0]]),
            '6.index': cubex.index([1, 2]), '6.data': cubex.rows('NDOUBLES(2)', [[(1.0, 2.0), (3.0, 4.0)], [(10.0, 20.0), (30.0, 40.0)]])}))
        r = run('tree', '--json', '--from', 'cube', file).json
        self.assertEqual(['main', 4, None, ['f', 5, 5, ['g', None, None]], ['g', 4, 4]], shown(r['root'], 'low'))  # what has no row is no minimum
        main, f, fg, g = r['root'], *[r['root']['children'][0]], r['root']['children'][0]['children'][0], r['root']['children'][1]
        self.assertEqual([[12, 5], [10, 3], [10, 3], [2, 2]], [n['values']['rate']['inclusive'] for n in (main, f, fg, g)])
        self.assertEqual(2 ** 64 + 2 ** 63 + 2 ** 62 + 1, main['values']['large']['inclusive'])
        self.assertEqual(0, g['values']['large']['inclusive'])
        self.assertEqual(('nan', 'nan', 'inf'), (main['values']['odd']['inclusive'], f['values']['odd']['exclusive'], fg['values']['odd']['exclusive']))
        self.assertEqual(([44, 66], [4, 6]), (f['values']['pair']['inclusive'], f['values']['pair']['exclusive']))
        flat = {n['name']: n['values'] for n in run('tree', '--json', '--flat', file).json['root']['children']}
        self.assertEqual({'inclusive': [12, 5], 'exclusive': [12, 5]}, flat['g']['rate'])
        self.assertEqual({'inclusive': 4, 'exclusive': 4}, flat['g']['low'])
        self.assertEqual({'inclusive': [40, 60], 'exclusive': [40, 60]}, flat['g']['pair'])

    def test_inclusive_values_without_a_row(self):
        """A row that is missing is zeros, and the children's values are taken off, in trees as in the table."""
        file = self.write('b.cubex', profile('main(f g)', [1, 2, 3], metric(2, 'pair', 'NDOUBLES(2)', '', 'INCLUSIVE'), {
            '2.index': cubex.index([1]), '2.data': cubex.rows('NDOUBLES(2)', [[(1.0, 2.0), (3.0, 4.0)]])}))
        root = run('tree', '--json', file).json['root']
        self.assertEqual({'inclusive': [0, 0], 'exclusive': [-4, -6]}, root['values']['pair'])
        self.assertEqual({'inclusive': [4, 6], 'exclusive': [4, 6]}, root['children'][0]['values']['pair'])
        rows = run('sql', '--json', file, 'select inclusive, exclusive from node where metric = 2 order by context').json
        self.assertEqual(['[-4,-6]', '[4,6]'], [r['exclusive'] for r in rows[:2]])

    def test_derived_metrics(self):
        """A quotient is one of sums; what adds up has shares."""
        more = (cubex.metric(2, 'mean', 'DOUBLE', 'POSTDERIVED', '<cubepl>metric::time() / metric::visits()</cubepl>') +
                cubex.metric(3, 'twice', 'DOUBLE', 'POSTDERIVED', '<cubepl>2 * metric::time()</cubepl>'))
        self.file = self.write('b.cubex', profile(more=more))
        root = self.json()['root']
        main, helper = root['children']
        self.assertEqual({'inclusive': 93 / 6030}, root['values']['mean'])
        self.assertEqual([63 / 6015, 1], list(main['values']['mean'].values()))
        self.assertEqual([30 / 15, 10 / 7], list(helper['values']['mean'].values()))
        g, helper, f, main = self.json('--flat')['root']['children']
        self.assertEqual([76 / 6017, 76 / 6017], list(g['values']['mean'].values()))
        self.assertEqual([30 / 14, 6 / 5], list(f['values']['mean'].values()))  # inclusive: of the outermost f
        self.assertEqual([152, 152], list(g['values']['twice'].values()))
        self.assertEqual(24 / 9, self.json('--bottom-up')['root']['children'][0]['children'][1]['values']['mean']['exclusive'])  # g called by f
        rows = list(csv.DictReader(io.StringIO(run('top', self.file, '--csv', '-n', '1').out)))
        self.assertEqual({'mean': '', 'twice': str(76 / 93)}, {r['metric']: r['share'] for r in rows if r['metric'] in ('mean', 'twice')})

    def test_formulas_that_cannot_be_computed(self):
        self.file = self.write('b.cubex', profile(more=cubex.metric(2, 'bad', 'DOUBLE', 'POSTDERIVED', '<cubepl>metric::nobody()</cubepl>')))
        r = run('tree', self.file, '--json', '--metric', 'bad')
        self.assertEqual(0, r.status)
        self.assertOneLine(r, 'note', "'bad'", 'assay validate')
        self.assertNotIn('bad', r.json['root']['children'][0]['values'])
        r = self.json()  # the others are fine, and nobody asked for this one
        self.assertEqual((['time', 'visits', 'bad'], 93), (r['metrics'], r['root']['values']['time']['inclusive']))

    def test_deep_trees(self):
        depth = 20000
        program = (cubex.region(0, 'f') + '<cnode id="0" calleeId="0">' + ''.join(f'<cnode id="{i}" calleeId="0">' for i in range(1, depth)) + '</cnode>' * depth)
        self.file = self.write('deep.cubex', cubex.tar({'0.index': cubex.index(list(range(depth))), '0.data': cubex.rows('DOUBLE', [[1.0, 0.0]] * depth),
                                                        'anchor.xml': cubex.anchor(metric(0, 'time', 'DOUBLE', 'sec'), program, cubex.system(2))}))
        r = run('tree', '--json', self.file)
        self.assertFine(r)
        lines = r.out.split('\n')
        self.assertEqual(depth, sum('"name":"f"' in l for l in lines))
        self.assertEqual(r.out.count('{'), r.out.count('}'))
        self.assertIn('"path":null', lines[-2])  # it would be longer than 16 kB
        self.assertTrue(lines[1].startswith('"root":{"name":"f","kind":"function","path":"f",'), lines[1][:80])
        self.assertIn('"time":{"inclusive":1,"exclusive":1}', lines[-2])
        r = run('tree', self.file, '--hot-path', env=UTF8)
        self.assertFine(r)
        self.assertIn('  [100] f  f.c:1\n', r.out)  # deep ones have their level instead of lines
        self.assertLess(len(r.out), 400 * depth)
        rows = [re.search(r'▸ .*f  ', l) for l in r.out.split('\n')]
        self.assertEqual(depth, sum(1 for x in rows if x))  # each has one less than its parent, 1 is half of 2
        r = run('tree', '--bottom-up', '--json', self.file, '--depth', '3')
        self.assertEqual(['<root>', depth, 0, ['f', depth, depth, ['f', depth - 1, depth - 1, ['f', depth - 2, depth - 2]]]], shown(r.json['root']))
        r = run('tree', '--bottom-up', '--json', self.file)
        self.assertEqual(0, r.status)
        self.assertOneLine(r, 'note', 'callers end after')


class Text(TreeCase):
    def test_as_people_see_it(self):
        self.assertEqual('''\
time s    %             self s    %  visits    call tree
 63.00 67.7 ██████▊       1.00  1.1       1  ▸ main  main.c:1
 32.00 34.4 ███▌         32.00 34.4   6,000  ▸ ├─g  g.c:3
 30.00 32.3 ███▎          2.00  2.2       2    └─f  f.c:2
 16.00 17.2 █▊           16.00 17.2       5      ├─g  g.c:3
 12.00 12.9 █▎            4.00  4.3       3      └─f  f.c:2
  8.00  8.6 ▉             8.00  8.6       4        └─g  g.c:3
 30.00 32.3 ███▎         10.00 10.8       7    helper  helper.c:4
 20.00 21.5 ██▏          20.00 21.5       8    └─g  g.c:3
''', self.text())
        self.assertEqual(f'{self.file}  time 93.00 s, 2 locations', run('tree', self.file).out.split('\n')[0])

    def test_nothing_but_ascii(self):
        for more in ((), ('--ascii',)):
            env = environment(LC_ALL='C') if not more else UTF8
            self.assertEqual('''\
time s    %             self s    %  visits    call tree
 63.00 67.7 #######       1.00  1.1       1  > main  main.c:1
 32.00 34.4 ###          32.00 34.4   6,000  > |-g  g.c:3
 30.00 32.3 ###           2.00  2.2       2    `-f  f.c:2
 30.00 32.3 ###          10.00 10.8       7    helper  helper.c:4
 20.00 21.5 ##           20.00 21.5       8    `-g  g.c:3
... 3 more below level 2
''', self.text('--depth', '2', *more, env=env))

    def test_lists(self):
        self.assertEqual('''\
self s    %             incl s    %  visits  function
 76.00 81.7 ████████▏    76.00 81.7   6,017  g  g.c:3
 10.00 10.8 █▏           30.00 32.3       7  helper  helper.c:4
  6.00  6.5 ▋            30.00 32.3       5  f  f.c:2
  1.00  1.1 ▏            63.00 67.7       1  main  main.c:1
''', self.text('--flat'))
        self.assertEqual(self.text('--flat'), self.text(verb='top'))
        self.assertEqual('''\
time s    %             self s    %  visits  function
 76.00 81.7 ████████▏    76.00 81.7   6,017  g  g.c:3
 63.00 67.7 ██████▊       1.00  1.1       1  main  main.c:1
… 2 more, 17.2 % in all; -n 0 shows them
''', self.text('-n', '2', '--sort', 'inclusive', verb='top'))
        self.assertEqual('''\
self s    %             incl s    %  visits    function, called by
 76.00 81.7 ████████▏    76.00 81.7   6,017  ▸ g  g.c:3
 32.00 34.4 ███▌         32.00 34.4   6,000    ├─main  main.c:1
 24.00 25.8 ██▋          24.00 25.8       9    ├─f  f.c:2
 20.00 21.5 ██▏          20.00 21.5       8    └─helper  helper.c:4
 10.00 10.8 █▏           30.00 32.3       7    helper  helper.c:4
… 2 more, 7.5 % in all; -n 0 shows them
''', self.text('--callers', '-n', '2', verb='top'))
        self.assertEqual('''\
self s    %             incl s    %  visits    function, called by
 76.00 81.7 ████████▏    76.00 81.7   6,017  ▸ g  g.c:3
 32.00 34.4 ███▌         32.00 34.4   6,000    ├─main  main.c:1
 24.00 25.8 ██▋          24.00 25.8       9    ├─f  f.c:2
 16.00 17.2 █▊           16.00 17.2       5    │ ├─main  main.c:1
  8.00  8.6 ▉             8.00  8.6       4    │ └─f ← main
 20.00 21.5 ██▏          20.00 21.5       8    └─helper  helper.c:4
 10.00 10.8 █▏           30.00 32.3       7    helper  helper.c:4
  6.00  6.5 ▋            30.00 32.3       5    f  f.c:2
  4.00  4.3 ▍            12.00 12.9       3    ├─f ← main
  2.00  2.2 ▎            30.00 32.3       2    └─main  main.c:1
  1.00  1.1 ▏            63.00 67.7       1    main  main.c:1
''', self.text('--bottom-up'))

    def test_subtrees_are_the_whole(self):
        self.assertEqual('''\
time s     %             self s    %  visits    call tree
 30.00 100.0 ██████████    2.00  6.7       2  ▸ f  f.c:2
 16.00  53.3 █████▍       16.00 53.3       5  ▸ ├─g  g.c:3
 12.00  40.0 ████          4.00 13.3       3    └─f  f.c:2
  8.00  26.7 ██▋           8.00 26.7       4      └─g  g.c:3
''', self.text('--root', 'f'))
        self.assertTrue(run('tree', self.file, '--root', 'f', '--root', 'helper').out.startswith(f'{self.file}  time 60.00 s in f, helper, 2 locations\n'))

    def test_hidden_ones_are_counted(self):
        self.assertTrue(self.text('--hide', '^f$').endswith('\n… 2 hidden\n'))
        self.assertTrue(self.text('--hide-subtree', '^f$').endswith('\n… 4 hidden\n'))
        self.assertTrue(self.text('--flat', '--hide', '^f$').endswith('\n… 1 hidden\n'))
        self.assertNotIn('hidden', self.text('--hide-subtree', '^f$', '--root', 'helper'))
        r = run('tree', self.file, '--hide', 'nothing', env=UTF8)
        self.assertIn("no name matches --hide 'nothing'", r.err)

    def test_the_rest_of_what_was_asked_for(self):
        """What is missing of the whole is more than the functions that are not shown."""
        self.assertIn('… 1 more; -n 0 shows them\n', self.text('--match', '^[fg]$', '-n', '1', verb='top'))

    def test_small_ones_are_not_shown(self):
        time = [1000, 2, 4, 8, 16, 32, 10, 20]
        self.file = self.write('a.cubex', profile(time=time))  # 0.5 % of 1092 are 5.46
        self.assertEqual(['> main', '  |-f', '  | |-f', '  | | `-g', '  | `-g', '  `-g', '  helper', '  `-g'], self.names('--sort', 'source'))
        text = self.text('--min-share', '2%')
        self.assertEqual(['> main', '  |-g', '  `-f', '  helper'], self.names('--min-share', '2%'))
        self.assertTrue(text.endswith('\n… 4 more below 2 %\n'), text)
        time[7] = 5
        self.file = self.write('a.cubex', profile(time=time))
        self.assertTrue(self.text().endswith('\n… 1 more below 0.5 %; --all shows them\n'), self.text())
        self.assertNotIn('more', self.text('--all'))
        self.assertEqual(8, len(self.names('--all')))
        self.assertEqual(self.text('--all'), self.text('--min-share', '0'))

    def test_differences_have_no_shares(self):
        """Both signs: small is what is small beside the largest, 70."""
        self.file = self.write('d.cubex', profile(time=[-1, 2, 4, 0.25, -70, 32, 0.0625, 0.03125]))
        self.assertEqual('''\
time s  self s  visits    call tree
-32.75   -1.00       1  ▸ main  main.c:1
-63.75    2.00       2  ▸ ├─f  f.c:2
-70.00  -70.00       5  ▸ │ ├─g  g.c:3
  4.25    4.00       3    │ └─f  f.c:2
 32.00   32.00   6,000    └─g  g.c:3
… 3 more below 0.5 %; --all shows them
''', self.text())
        self.assertTrue(run('tree', self.file).out.startswith(f'{self.file}  time -32.66 s, 2 locations\n'))

    def test_order(self):
        self.assertEqual(['> main', '  |-f', '> `-g', '  helper', '  `-g'], self.names('--sort', 'source', '--depth', '2'))
        self.assertEqual(['  helper', '  `-g', '> main', '  |-f', '> `-g'], self.names('--sort', 'name', '--depth', '2'))
        self.assertEqual(['  helper', '  `-g', '> main', '> |-g', '  `-f'], self.names('--sort', 'exclusive', '--depth', '2'))
        self.assertEqual(['f', 'g', 'helper', 'main'], self.names('--flat', '--sort', 'name'))
        self.assertEqual(['main', 'f', 'g', 'helper'], self.names('--flat', '--sort', 'source'))

    def test_hot_path(self):
        self.assertEqual(['> main', '> `-g'], self.names('--hot-path'))
        self.assertEqual(['> g'], self.names('--hot-path', '--bottom-up'))  # no caller has half of it
        self.assertEqual(['> f', '> `-g'], self.names('--hot-path', '--root', 'f'))
        self.assertEqual('main', self.json('--hot-path')['root']['children'][0]['name'])

    def test_names(self):
        self.assertEqual(['> main', '  `-f', '    `-f'], self.names('--name', 'f'))
        self.assertEqual(['> main', '  |-f', '  | |-f', '  | | `-g', '  | `-g', '> `-g', '  helper', '  `-g'], self.names('--match', '^[fg]$', '--sort', 'source'))
        self.assertEqual(['f', 'helper'], sorted(self.names('--flat', '--name', 'f', '--name', 'helper')))
        self.assertEqual(['g.c'], self.names('--by', 'file', '--match', '^g'))
        self.assertEqual(['  f', '  |-f', '  `-main'], [n.replace('>', ' ') for n in self.names('--bottom-up', '--name', 'f', '--depth', '2')])

    def test_locations(self):
        quarter = self.json('--location', '0.0')['root']['values']
        self.assertEqual((93 / 4, 0), (quarter['time']['inclusive'], quarter['visits']['inclusive']))
        for place in ('0.1', 'thread 1'):
            r = self.json('--location', place)
            self.assertEqual((93 * 3 / 4, 6030), (r['root']['values']['time']['inclusive'], r['root']['values']['visits']['inclusive']))
        self.assertEqual('thread 0.1', self.json('--location', '0.1')['location'])
        for place in ('0', 'p', 'm'):
            self.assertEqual(93, self.json('--location', place)['root']['values']['time']['inclusive'])
        self.assertIn('time 23.25 s, thread 0.0\n', run('tree', self.file, '--location', '0.0').out)
        self.assertFails(run('tree', self.file, '--location', '0.7'), 2, "'0.7'", 'rank')
        self.assertFails(run('tree', self.file, '--location', 'thraed 1'), 2, "did you mean 'thread 1'?")

    def test_several_files(self):
        r = run('tree', self.file, self.file)
        self.assertFine(r)
        self.assertEqual(2, r.out.count(f'{self.file}  time 93.00 s'))

    def test_metrics(self):
        lines = self.text('--metric', 'visits', '--metric', 'time', '--depth', '1').split('\n')
        self.assertEqual('visits    %             self   %  time s    %  self s   %    call tree', lines[0])
        self.assertEqual(' 6,015 99.8 ██████████     1 0.0   63.00 67.7    1.00 1.1  ▸ main  main.c:1', lines[1])

    def test_minima_have_no_shares(self):
        self.file = self.write('b.cubex', profile('main(f g)', [1, 2, 3], metric(2, 'low', 'MINDOUBLE', 'sec'),
                                                  {'2.index': cubex.index([1, 2]), '2.data': cubex.rows('MINDOUBLE', [[5.0, 6.0], [4.0, 7.0]])}))
        self.assertEqual('''\
low s  self s    call tree
4.000       -    main  main.c:1
5.000   5.000    ├─f  f.c:2
4.000   4.000    └─g  g.c:3
''', self.text('--metric', 'low', '--sort', 'source'))
        self.assertFails(run('tree', self.file, '--metric', 'low', '--hot-path'), 2, "'low'", 'do not add up')


class Tables(TreeCase):
    def test_csv(self):
        r = run('tree', self.file, '--csv', '--metric', 'time')
        self.assertFine(r)
        rows = list(csv.DictReader(io.StringIO(r.out)))
        self.assertEqual(['path', 'depth', 'name', 'kind', 'source_id', 'file', 'line', 'module', 'metric', 'inclusive', 'exclusive', 'share', 'exclusive_share'], list(rows[0]))
        self.assertEqual(['main', 'main->f', 'main->f->f', 'main->f->f->g', 'main->f->g', 'main->g', 'helper', 'helper->g'], [x['path'] for x in rows])
        self.assertEqual([63, 30, 12, 8, 16, 32, 30, 20], [float(x['inclusive']) for x in rows])
        self.assertEqual(TIME, [float(x['exclusive']) for x in rows])
        self.assertEqual(['0', '1', '2', '3', '2', '1', '0', '1'], [x['depth'] for x in rows])
        self.assertAlmostEqual(63 / 93, float(rows[0]['share']))
        self.assertAlmostEqual(1 / 93, float(rows[0]['exclusive_share']))

    def test_json_lines_of_several_files(self):
        r = run('top', self.file, self.file, '--jsonl', '-n', '1')
        self.assertFine(r)
        rows = [json.loads(l) for l in r.out.splitlines()]
        self.assertEqual([(self.file, 'g', 'time', 76), (self.file, 'g', 'visits', 6017)] * 2, [(x['input'], x['name'], x['metric'], x['exclusive']) for x in rows])

    def test_markdown(self):
        r = run('tree', self.file, '--md', '--depth', '1')
        self.assertFine(r)
        self.assertEqual(2 + 4, len(r.out.splitlines()))
        self.assertIn('| main ', r.out)


class Experiments(Case):
    def setUp(self):
        super().setUp()
        self.file = self.write('a.txt', SMALL)

    def root(self, *args):
        r = run('tree', '--json', self.file, *args)
        self.assertFine(r)
        return r.json

    def test_the_largest_point(self):
        r = self.root()
        self.assertEqual('p=2, n=20, mean of 2 runs', r['run'])
        self.assertEqual(['main', None, None, ['sort', 4.25, None], ['join', 40.5, None]], shown(r['root']))
        self.assertEqual('''\
 time    %               call tree
    -                  ▸ main
40.50 90.5 █████████   ▸ ├─join
 4.25  9.5 █             └─sort
''', run('tree', self.file, env=UTF8).out.split('\n', 1)[1])
        self.assertTrue(run('tree', self.file).out.startswith(f'{self.file}  time 44.75, p=2, n=20, mean of 2 runs\n'))

    def test_other_points(self):
        for name in ('p=1,n=10', 'n=10, p=1', '(1,10)'):
            self.assertEqual(['main', None, None, ['sort', 1.25, None], ['join', 10.5, None]], shown(self.root('--run', name)['root']))
        r = self.root('--run', '1')
        self.assertEqual('p=1, n=10, run 1', r['run'])
        self.assertEqual(['main', None, None, ['sort', 1.5, None], ['join', 11, None]], shown(r['root']))
        self.assertFails(run('tree', self.file, '--run', '8'), 2, '8', 'from 0')
        self.assertFails(run('tree', self.file, '--run', 'p=3,n=10'), 2, 'p=3, n=10', 'p=1, n=10')
        self.assertFails(run('tree', self.file, '--run', 'q=3'), 2, 'q')
        self.assertFails(run('tree', self.file, '--run', 'p=1..2,n=10'), 2, 'one point')

    def test_lists(self):
        r = run('top', '--json', self.file).json
        self.assertEqual(['join', 'sort', 'main'], [c['name'] for c in r['root']['children']])
        self.assertEqual([40.5, 4.25, None], [c['values'].get('time', {}).get('inclusive') for c in r['root']['children']])

    def test_statistics_instead_of_runs(self):
        """A file without repetitions: the means of the point, as the table measurement has them."""
        self.file = os.path.join(os.environ['ASSAY_SOURCE'], 'tests/data/extrap-segmented.extra-p')
        self.assertEqual([], run('sql', '--json', self.file, 'select * from run').json)
        expected = run('sql', '--json', self.file, "select c.path, m.mean from measurement m join context c on c.id = m.context join point p on p.id = m.point where p.label = '(512)' order by 1").json
        self.assertGreater(len(expected), 1)
        rows = [json.loads(l) for l in run('tree', '--jsonl', self.file).out.splitlines()]
        self.assertEqual(expected, sorted(({'path': r['path'], 'mean': r['inclusive']} for r in rows if r['inclusive'] is not None), key=lambda r: r['path']))
        self.assertFails(run('tree', self.file, '--run', '0'), 2, 'no runs')

    def test_directories_of_profiles(self):
        """The mean of two runs, of which one lacks g: nothing is 0 there."""
        for name, text, time in (('x.p1.r1', 'main(f g)', [1, 2, 3]), ('x.p2.r1', 'main(f g)', [10, 20, 30]), ('x.p2.r2', 'main(f)', [14, 40])):
            os.makedirs(self.path('set/' + name))
            self.write(f'set/{name}/profile.cubex', profile(text, time))
        self.file = self.path('set')
        r = self.root('--metric', 'time')
        self.assertEqual('p=2, mean of 2 runs', r['run'])
        self.assertEqual(['main', 57, 12, ['f', 30, 30], ['g', 15, 15]], shown(r['root']))
        self.assertEqual(['main', 6, 1, ['f', 2, 2], ['g', 3, 3]], shown(self.root('--metric', 'time', '--run', 'p=1')['root']))
        self.assertEqual(['main', 54, 14, ['f', 40, 40], ['g', 0, 0]], shown(self.root('--metric', 'time', '--run', '2')['root']))

    def test_places(self):
        self.assertFails(run('tree', self.file, '--location', '0'), 2, 'no locations')


class Terminal(TreeCase):
    NAME = 'void_Kokkos_Impl_' + 'x' * 200

    def test_it_fits(self):
        self.file = self.write('b.cubex', profile('main(f(f(g) g) ' + self.NAME + ')', [1, 2, 4, 8, 16, 32]))
        for columns, view in [(c, v) for c in (30, 40, 60, 80, 120, 200) for v in ('--all', '--bottom-up', '--flat')]:
            r = run_on_terminal('tree', self.file, view, columns=columns, env=environment(TERM='dumb', LC_ALL='C.UTF-8'))
            self.assertEqual(0, r.status)
            lines = r.out.split('\n')
            self.assertLessEqual(max(map(len, lines[1:])), columns, r.out)
            self.assertIn('main', r.out)
        self.assertIn(self.NAME, run_on_terminal('tree', self.file, '--full-names').out)
        self.assertIn(self.NAME, run('tree', self.file).out)

    def test_colour(self):
        coloured = run_on_terminal('tree', self.file, env=environment(TERM='xterm', LC_ALL='C.UTF-8')).out
        plain = run_on_terminal('tree', self.file, env=environment(TERM='dumb', LC_ALL='C.UTF-8')).out
        self.assertIn('\033[1;33mmain\033[0m', coloured)
        self.assertEqual(plain, re.sub(r'\033\[[0-9;]*m', '', coloured))
        self.assertNotIn('\033', plain)
        self.assertNotIn('\033', run('tree', self.file).out)
        self.assertIn('\033', run('tree', '--color=always', self.file).out)


class Errors(TreeCase):
    def test_wrong_usage(self):
        for args, words in (((), ['tree needs a file']), ((self.file, '--metric', 'tme'), ["did you mean 'time'?"]), ((self.file, '--metric', 'xyzzy'), ["'visits'", 'others']),
                            ((self.file, '--bottom-up', '--flat'), ['exclude']), ((self.file, '--flat', '--hot-path'), ['no hot path']), ((self.file, '--depth', '0'), ['from 1 on']),
                            ((self.file, '--depth', 'deep'), ['whole number']), ((self.file, '--min-share', '101'), ['0 to 100']), ((self.file, '--all', '--min-share', '1'), ['exclude']),
                            ((self.file, '--match', '('), ['no regular expression']), ((self.file, '--match', 'nothing'), ["no name matches 'nothing'"]),
                            ((self.file, '--name', 'helpr'), ["did you mean 'helper'?"]), ((self.file, '--root', 'hlper'), ["did you mean 'helper'?"]), ((self.file, '--run', '1'), ['there are 1']),
                            ((self.file, '--run', 'p=1'), ['no parameters']), ((self.file, '--by', 'colour'), ['region|file|module|kind'])):
            with self.subTest(args):
                self.assertFails(run('tree', *args), 2, *words)
        self.assertFails(run('top', self.file, '--callers', '--by', 'file'), 2, '--by')
        self.assertFails(run('top', self.file, '-n', 'x'), 2, 'whole number')

    def test_files_that_cannot_be_read(self):
        self.assertFails(run('tree', self.path('none')), 3, 'none')
        broken = self.write('b.cubex', profile(members={'1.data': b'CUBEX.XXXX'}))
        self.assertEqual(3, run('tree', broken).status)
        self.assertFine(run('tree', broken, '--metric', 'visits'))  # only what is asked for is decoded

    def test_output_goes_to_a_file(self):
        r = run('tree', self.file, '--json', '-o', self.path('out.json'))
        self.assertFine(r)
        self.assertEqual(run('tree', self.file, '--json').out.encode(), self.read('out.json'))


if __name__ == '__main__':
    main()
