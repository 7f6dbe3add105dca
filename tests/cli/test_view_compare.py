"""assay view: two inputs compared; by hand, and against assay diff and compare."""
import json
import math
import os

from common import Case, main, run
from cubex import processes, profile
import hpctoolkit
from viewer import Refused, Viewer

EXAMPLES = os.path.join(os.environ['ASSAY_SOURCE'], 'examples')
CORPUS = os.environ.get('ASSAY_CORPUS', '')
HEAT, HEAT_2 = (os.path.join(EXAMPLES, name) for name in ('heat.cubex', 'heat-2.cubex'))
DATABASE = os.path.join(EXAMPLES, 'heat-hpctoolkit')
SORT_1, SORT_2 = (os.path.join(EXAMPLES, name) for name in ('sort-1.perf', 'sort-2.perf'))
FILTER, FILTER_2 = (os.path.join(EXAMPLES, 'gpu', name) for name in ('filter.sqlite', 'filter-2.sqlite'))
PLAIN = os.path.join(CORPUS, 'afperf', 'plain.afperf')
KERNELS = os.path.join(EXAMPLES, 'kernels.txt')

COLUMNS = (('a', 'base', 'inclusive'), ('b', 'target', 'inclusive'), ('change', 'change', 'inclusive'), ('relative', 'relative', 'inclusive'),
           ('a_exclusive', 'base', 'exclusive'), ('b_exclusive', 'target', 'exclusive'), ('change_exclusive', 'change', 'exclusive'))


def rows_of(answer):
    """The rows of an answer, by list: {node: [row as a dict]}."""
    rows, at, lists = answer['rows'], 0, {}
    for one in answer['lists']:
        lists[one['node']] = [{key: column[i] for key, column in rows.items()} for i in range(at, at + one['rows'])]
        at += one['rows']
    return lists


def names_of(answer, node=-1):
    return [row['name'] for row in rows_of(answer)[node]]


class Compare(Case):
    def viewer(self, *paths):
        viewer = Viewer(*map(str, paths))
        self.addCleanup(viewer.end)
        return viewer

    def profiles(self, *trees):
        """A viewer of files of one metric: (tree, exclusive values) each."""
        paths = [self.write(f'{i}.cubex', profile([('time', 'UINT64', 'EXCLUSIVE', tuple((v,) for v in values))], tree, processes(1)))
                 for i, (tree, values) in enumerate(trees)]
        return self.viewer(*paths)

    def refused(self, viewer, path, **params):
        with self.assertRaises(Refused) as caught:
            viewer.get(path, **params)
        return caught.exception

    def everything(self, viewer, **params):
        """All rows in the order of the files: (depth, row)."""
        out, pending = [], []
        first = viewer.get('compare', node=-1, limit=2000, **params)
        pending = [row for row in reversed(rows_of(first)[-1])]
        while pending:
            row = pending.pop()
            out.append(row)
            if row['children']:
                below = rows_of(viewer.get('compare', node=row['node'], limit=2000, **params))[row['node']]
                self.assertEqual(len(below), row['children'])
                pending.extend(reversed(below))
        return first, out

    def check_against_diff(self, a, b, viewer=None, metric=None, view='top-down', options=()):
        viewer = viewer or self.viewer(a, b)
        words = ['diff', a, b, '--json', '--sort', 'source', *options] + (['--flat'] if view == 'flat' else [])
        if metric:
            words += ['--metric', metric]
        told = json.loads(run(*words).out)
        head, rows = self.everything(viewer, metric=metric, view=view, sort='source', **dict(option[2:].split('=') for option in options))
        root = told['root']
        is_top = root['path'] is None and root['name'] == '<root>' and root['kind'] is None and root['file'] is None
        expected, pending = [], list(reversed(root['children'])) if is_top else [root]
        while pending:
            node = pending.pop()
            expected.append(node)
            pending.extend(reversed(node['children']))
        self.assertEqual([row['name'] for row in rows], [node['name'] for node in expected])
        self.assertEqual([row['in'] for row in rows], [node['in_base'] + 2 * node['in_target'] for node in expected])
        self.assertEqual(head['metric'], metric or told['metrics'][0])
        self.assertEqual(head['only_a']['names'], told['only_in_base'][:200])
        self.assertEqual(head['only_b']['names'], told['only_in_target'][:200])
        for row, node in zip(rows, expected):
            values = node['values'][head['metric']]
            for key, side, kind in COLUMNS:
                if key in row:
                    self.same(row[key], values[side][kind], f'{node["path"]} {key}')
        return head, rows

    def same(self, own, told, what):
        if own is None or told is None or isinstance(told, str):
            self.assertEqual(own, told, what)
        elif abs(told) < 2 ** 53:
            self.assertEqual(float(own), float(told), what)
        else:
            self.assertTrue(math.isclose(float(own), float(told), rel_tol=1e-14), what)

    # ---- against diff

    def test_integers_are_exact(self):
        """No double has 2^53 + 1: f changed by 3 - 1, main by as much and what it did itself, 4 - 2."""
        big = 2**53
        viewer = self.profiles(('main(f)', (2, big + 1)), ('main(f)', (4, big + 3)))
        numbers = {row['name']: [row[key] for key, *_ in COLUMNS if key != 'relative'] for row in self.everything(viewer)[1]}
        self.assertEqual({'main': [str(big + 3), str(big + 7), 4, 2, 4, 2], 'f': [str(big + 1), str(big + 3), 2, str(big + 1), str(big + 3), 2]}, numbers)

    def test_numbers_are_those_of_diff(self):
        for a, b in ((HEAT, HEAT_2), (DATABASE, DATABASE), (SORT_1, SORT_2), (FILTER, FILTER_2)):
            viewer = self.viewer(a, b)
            for view in ('top-down', 'flat'):
                with self.subTest(a=os.path.basename(a), view=view):
                    self.check_against_diff(a, b, viewer, view=view)

    def test_other_metrics_places_and_pairings(self):
        viewer = self.viewer(HEAT, HEAT_2)
        self.check_against_diff(HEAT, HEAT_2, viewer, 'visits')
        self.check_against_diff(HEAT, HEAT_2, viewer, 'time_per_visit')
        self.check_against_diff(HEAT, HEAT_2, viewer, 'time', options=('--location=1',))

    def test_corpus(self):
        if not CORPUS:
            self.skipTest('no corpus')
        cube = os.path.join(CORPUS, 'cube', 'algebra')
        databases = os.path.join(CORPUS, 'hpctoolkit', 'databases')
        pairs = [(os.path.join(cube, a + '.cubex'), os.path.join(cube, b + '.cubex')) for a, b in (
            ('base', 'changed'), ('names_a', 'names_b'), ('roots_a', 'roots_b'), ('sites_a', 'sites_b'), ('twins_a', 'twins_b'),
            ('integers_a', 'integers_b'), ('minmax_a', 'minmax_b'), ('recursive', 'recursive'))]
        pairs += [(PLAIN, os.path.join(CORPUS, 'afperf', 'messy.afperf')),
                  (os.path.join(databases, 'made-v4-small_2023-S-stats'), os.path.join(databases, 'made-seed-small_2023-S-stats'))]
        for a, b in pairs:
            viewer = self.viewer(a, b)
            for view in ('top-down', 'flat'):
                with self.subTest(a=os.path.basename(a), b=os.path.basename(b), view=view):
                    self.check_against_diff(a, b, viewer, view=view)

    def test_all_metrics_of_a_pair(self):
        """What is kept of one metric is not taken for another."""
        viewer = self.viewer(HEAT, HEAT_2)
        names = viewer.get('compare')['metrics']
        self.assertIn('visits', names)
        for view in ('top-down', 'flat', 'top-down'):
            for name in names:
                self.check_against_diff(HEAT, HEAT_2, viewer, name, view)

    # ---- by hand

    # main 1, f 10 > 30, g 100, old 5 > none, new none > 7
    A = ('main(f(g),old)', (1, 10, 100, 5))
    B = ('main(f(g),new)', (1, 30, 100, 7))

    def test_by_hand(self):
        viewer = self.profiles(self.A, self.B)
        head, rows = self.everything(viewer, sort='source')
        self.assertEqual([(r['name'], r['a'], r['b'], r['change'], r['in']) for r in rows],
                         [('main', 116, 138, 22, 3), ('f', 110, 130, 20, 3), ('g', 100, 100, 0, 3), ('old', 5, 0, -5, 1), ('new', 0, 7, 7, 2)])
        self.assertEqual([r['relative'] for r in rows], [22 / 116, 20 / 110, 0, -1, None])
        self.assertEqual((head['a']['total'], head['b']['total']), (116, 138))
        self.assertEqual((head['only_a'], head['only_b']), ({'n': 1, 'names': ['old']}, {'n': 1, 'names': ['new']}))

    def test_orders(self):
        viewer = self.profiles(self.A, self.B)
        main_node = rows_of(viewer.get('compare'))[-1][0]['node']
        orders = {'change': ['f', 'new', 'old'], 'increase': ['f', 'new', 'old'], 'relative': ['new', 'old', 'f'], 'base': ['f', 'old', 'new'],
                  'target': ['f', 'new', 'old'], 'self': ['f', 'new', 'old'], 'name': ['f', 'new', 'old'], 'source': ['f', 'old', 'new']}
        for sort, names in orders.items():
            with self.subTest(sort=sort):
                self.assertEqual(names_of(viewer.get('compare', node=main_node, sort=sort), main_node), names)
                usual = 'ascending' if sort in ('name', 'source') else 'descending'
                other = 'descending' if usual == 'ascending' else 'ascending'
                self.assertEqual(names_of(viewer.get('compare', node=main_node, sort=sort, order=usual), main_node), names)
                self.assertEqual(names_of(viewer.get('compare', node=main_node, sort=sort, order=other), main_node), names[::-1])
        self.assertEqual(names_of(viewer.get('compare', node=main_node, offset=1, limit=1), main_node), ['new'])

    def test_first_answer_leads_to_the_change(self):
        """main > f has most of the change; it is open."""
        answer = self.profiles(self.A, self.B).get('compare')
        lists = rows_of(answer)
        self.assertEqual([[row['name'] for row in rows] for rows in lists.values()], [['main'], ['f', 'new', 'old'], ['g']])

    def test_all_levels_at_once(self):
        lists = rows_of(self.profiles(self.A, self.B).get('compare', all=1))
        self.assertEqual(sorted(row['name'] for rows in lists.values() for row in rows), ['f', 'g', 'main', 'new', 'old'])

    def test_what_changed_little_can_be_left_out(self):
        """5 % of 138 are 6.9: old is below it, g did not change."""
        viewer = self.profiles(self.A, self.B)
        _, rows = self.everything(viewer, min_change=5, sort='source')
        self.assertEqual([r['name'] for r in rows], ['main', 'f', 'new'])
        self.assertEqual(self.refused(viewer, 'compare', min_change=-1).status, 400)

    def test_search(self):
        viewer = self.profiles(self.A, self.B)
        answer = viewer.get('compare', match='g')
        self.assertEqual(answer['found'], 1)
        self.assertEqual([[r['name'] for r in rows] for rows in rows_of(answer).values()], [['main'], ['f'], ['g']])
        self.assertEqual([r['flags'] for rows in rows_of(answer).values() for r in rows], [64, 64, 32])
        self.assertEqual(viewer.get('compare', match='/^(old|new)$/')['found'], 2)
        self.assertEqual(self.refused(viewer, 'compare', match='/(/').status, 400)

    def test_swapped(self):
        viewer = self.profiles(self.A, self.B)
        answer = viewer.get('compare', a=1, b=0)
        self.assertEqual(answer['rows']['change'][0], -22)
        self.assertEqual((answer['a']['total'], answer['b']['total']), (138, 116))

    def test_normalized(self):
        """Half as much of everything: no change but in size."""
        viewer = self.profiles(('main(f,g)', (2, 20, 200)), ('main(f,g)', (1, 10, 100)))
        _, rows = self.everything(viewer, normalize=1)
        self.assertEqual([r['change'] for r in rows], [0, 0, 0])
        _, rows = self.everything(viewer)
        self.assertEqual([r['relative'] for r in rows], [-0.5, -0.5, -0.5])

    def test_same_input_twice(self):
        viewer = self.viewer(HEAT, HEAT_2)
        _, rows = self.everything(viewer, a=0, b=0)
        self.assertEqual({r['change'] for r in rows}, {0})
        self.assertEqual({r['in'] for r in rows}, {3})

    def test_nodes_of_a_side_are_found(self):
        viewer = self.profiles(self.A, self.B)
        answer = viewer.get('compare', reveal_b=3)  # new
        self.assertEqual(rows_of(answer)[rows_of(answer)[-1][0]['node']][1]['name'], 'new')
        at = answer['at']
        self.assertEqual([r['name'] for rows in rows_of(answer).values() for r in rows if r['node'] == at], ['new'])
        self.assertEqual(self.refused(viewer, 'compare', reveal_a=4).status, 400)

    def test_verdict_of_the_whole(self):
        """No call path is of both, and all together take ten times as long, in each of five runs: 252 ways to choose five of ten, two of them as extreme."""
        paths = [self.write(f'{name}.txt', f'PARAMETER p\nPOINTS 2\nMETRIC time\nREGION {name}\nDATA ' + ' '.join(str(factor * (100 + i)) for i in range(5)) + '\n') for name, factor in (('f', 1), ('g', 10))]
        answer = self.viewer(*paths).get('compare')
        self.assertEqual((102, 1020), (answer['a']['total'], answer['b']['total']))
        self.assertEqual('degradation', answer['verdict']['outcome'])
        self.assertAlmostEqual(2 / 252, answer['verdict']['p'])

    # ---- other formats, and what cannot be

    def test_different_formats(self):
        """The time of a Cube profile and of an HPCToolkit database: of other names, both in seconds."""
        viewer = self.viewer(HEAT, DATABASE)
        answer = viewer.get('compare')
        for side, path in (('a', HEAT), ('b', DATABASE)):
            self.assertIsNotNone(answer[side]['metric'])
            tree = json.loads(run('tree', path, '--json', '--metric', answer[side]['metric'], '--depth', '1').out)
            total = tree['root']['values'][answer[side]['metric']]['inclusive']
            self.assertAlmostEqual(answer[side]['total'], total, delta=1e-9 * abs(total))
        self.assertGreater(answer['only_b']['n'], 0)

    def test_metrics_of_other_names(self):
        """4000 ms are 4 s; occurrences are no time, but counts, whatever these are called."""
        def write(name, unit, value):
            made = profile([(name, 'UINT64', 'EXCLUSIVE', ((value,),))], 'main', processes(1))
            return self.write(f'{name}.cubex', made.replace(b'<uom>sec</uom>', f'<uom>{unit}</uom>'.ljust(14).encode()))
        viewer = self.viewer(write('one', 'sec', 3), write('other', 'ms', 4000), write('third', 'occ', 5), write('last', '#', 7))
        answer = viewer.get('compare', metric='one', metric_b='other')
        self.assertEqual((answer['a']['metric'], answer['b']['metric'], answer['unit']), ('one', 'other', 'sec'))
        self.assertEqual((answer['rows']['a'], answer['rows']['b'], answer['rows']['change'], answer['b']['total']), ([3], [4], [1], 4))
        self.assertEqual(viewer.get('compare', a=1, b=0)['rows']['b'], [3000])
        self.assertEqual(self.refused(viewer, 'compare', metric_b='none').status, 400)
        self.assertEqual(self.refused(viewer, 'compare', b=2, metric_b='third').status, 400)
        counts = viewer.get('compare', a=2, b=3)
        self.assertEqual((counts['a']['metric'], counts['b']['metric'], counts['rows']['change']), ('third', 'last', [2]))

    def test_one_that_cannot_be_read(self):
        viewer = self.viewer(HEAT, self.write('broken.cubex', b'nothing'), HEAT_2)
        self.assertEqual(self.refused(viewer, 'compare').status, 422)
        self.assertEqual(viewer.get('compare', b=2)['b']['d'], 2)

    def test_one_input(self):
        self.assertEqual(self.refused(self.viewer(HEAT), 'compare').status, 422)

    def test_refused(self):
        viewer = self.profiles(self.A, self.B)
        for path, params in (('compare', {'a': 2}), ('compare', {'b': 'x'}), ('compare', {'metric': 'none'}), ('compare', {'view': 'bottom-up'}),
                             ('compare', {'sort': 'color'}), ('compare', {'order': 'up'}), ('compare', {'node': 5}), ('compare', {'node': '1.5'}),
                             ('compare', {'limit': 0}), ('compare', {'pairing': 'none'}), ('compare_flame', {'root': 99}), ('compare_flame', {'width': 0}),
                             ('compare_scatter', {'kind': 'other'}), ('compare_scatter', {'view': 'x'})):
            with self.subTest(path=path, **params):
                error = self.refused(viewer, path, **params)
                self.assertEqual(error.status, 400)
                self.assertTrue(error.message)

    # ---- noise

    def test_repetitions_are_judged_as_compare_does(self):
        slow = self.write('slow.txt', b'PARAMETER p\nPOINTS ( 4 )\nREGION steady\nMETRIC time\nDATA 10 11 10 11 10 11 10 11\nREGION worse\nMETRIC time\n'
                                      b'DATA 20 21 20 21 20 21 20 21\nREGION noisy\nMETRIC time\nDATA 5 15 6 14 7 13 8 12\n')
        fast = self.write('fast.txt', b'PARAMETER p\nPOINTS ( 4 )\nREGION steady\nMETRIC time\nDATA 10 11 10 11 10 11 11 10\nREGION worse\nMETRIC time\n'
                                      b'DATA 30 31 30 31 30 31 30 31\nREGION noisy\nMETRIC time\nDATA 6 16 7 15 8 13 9 12\n')
        told = json.loads(run('compare', slow, fast, '--json', '--all', '--inclusive', '--fail-on', 'never').out)
        viewer = self.viewer(slow, fast)
        head, rows = self.everything(viewer, metric='time')
        self.assertEqual({r['name']: r['verdict'] for r in rows}, {'steady': 'no change', 'worse': 'degradation', 'noisy': 'no change'})
        self.assertEqual({e['path']: (e['finding'], e['ratio_low'], e['ratio_high'], e['adjusted_p']) for e in told['entries']},
                         {r['name']: (r['verdict'], r['low'], r['high'], r['p']) for r in rows})
        total = told['totals'][0]
        self.assertEqual([head['verdict'][key] for key in ('outcome', 'low', 'high', 'p')], [total[key] for key in ('finding', 'ratio_low', 'ratio_high', 'adjusted_p')])
        self.assertEqual(head['verdict']['counts']['degradation'], 1)
        flat = viewer.get('compare', view='flat')
        self.assertEqual((flat['verdict'], 'verdict' in flat['rows']), (head['verdict'], False))

    STEADY, SLOW = 'DATA 10 11 10 11 10 11 10 11\n', 'DATA 20 21 20 21 20 21 20 21\n'

    def test_named_points_are_judged_as_compare_does(self):
        """At 4 both take the same, at 8 one of them twice as long: what is said depends on the points that are named."""
        path = self.write('runs.txt', 'PARAMETER p\nPOINTS ( 4 ) ( 8 )\nREGION steady\nMETRIC time\n' + self.STEADY + self.STEADY +
                          'REGION worse\nMETRIC time\n' + self.STEADY + self.SLOW)
        viewer = self.viewer(path, path)
        for a, b, expected in (('p=4', 'p=8', 'degradation'), ('p=8', 'p=4', 'optimization'), ('p=8', 'p=8', 'no change')):
            told = run('compare', path, path, '--run-a', a, '--run-b', b, '--json', '--all', '--inclusive', '--fail-on', 'never').json
            head, rows = self.everything(viewer, run_a=a, run_b=b)
            self.assertEqual({'steady': 'no change', 'worse': expected}, {r['name']: r['verdict'] for r in rows})
            self.assertEqual({e['path']: (e['finding'], e['ratio_low'], e['ratio_high'], e['adjusted_p']) for e in told['entries']},
                             {r['name']: (r['verdict'], r['low'], r['high'], r['p']) for r in rows})
            self.assertEqual(told['totals'][0]['finding'], head['verdict']['outcome'])
        # one input against itself, and one point of both
        self.assertEqual('degradation', viewer.get('compare', a=0, b=0, run_a='p=4', run_b='p=8')['verdict']['outcome'])
        self.assertEqual('no change', viewer.get('compare', run='p=8')['verdict']['outcome'])
        # single runs have no repetitions
        self.assertIsNone(viewer.get('compare', run_a='1', run_b='9')['verdict'])

    def test_metric_of_one_side_is_not_judged(self):
        text = 'PARAMETER p\nPOINTS ( 4 )\nREGION f\nMETRIC time\n' + self.STEADY
        paths = [self.write('one.txt', text), self.write('two.txt', text + 'METRIC visits\n' + self.SLOW)]
        for order in (paths, paths[::-1]):
            viewer = self.viewer(*order)
            self.assertIsNone(viewer.get('compare', metric='visits')['verdict'])
            self.assertEqual('no change', viewer.get('compare', metric='time')['verdict']['outcome'])

    def test_points_of_other_parameters_are_judged(self):
        paths = [self.write(f'{name}.txt', f'PARAMETER {name}\nPOINTS ( 4 ) ( 8 )\nREGION f\nMETRIC time\n' + self.STEADY + self.SLOW) for name in 'pn']
        answer = self.viewer(*paths).get('compare', run_a='p=4', run_b='n=8')
        self.assertEqual(['degradation'], answer['rows']['verdict'])

    # ---- flame graph

    def test_flame_by_hand(self):
        """Widths: main 1, f 30, g 100, old 5, new 7: the larger of both."""
        viewer = self.profiles(self.A, self.B)
        answer = viewer.get('compare_flame')
        shapes = answer['shapes']
        by_name = {name: i for i, name in enumerate(shapes['name'])}
        self.assertEqual(answer['total'], 143)
        expected = {'main': (143, 116, 138, 1, 1), 'f': (130, 110, 130, 10, 30), 'g': (100, 100, 100, 100, 100), 'old': (5, 5, 0, 5, 0), 'new': (7, 0, 7, 0, 7)}
        for name, numbers in expected.items():
            i = by_name[name]
            self.assertEqual(tuple(shapes[key][i] for key in ('value', 'a', 'b', 'a_own', 'b_own')), numbers, name)
        self.assertEqual((shapes['a'][0], shapes['b'][0], shapes['parent'][0]), (116, 138, -1))
        part = viewer.get('compare_flame', root=shapes['node'][by_name['f']], match='g')
        self.assertEqual((part['shapes']['name'], part['shapes']['found'], part['above_names']), (['f', 'g'], [0, 1], ['main']))

    def test_flame_of_narrow_frames(self):
        """1000 functions of 1 below one of 1000: at 100 pixels each has a twentieth of what can be seen."""
        n = 1000
        tree = f'main(large,{",".join(f"f{i}" for i in range(n))})'
        viewer = self.profiles((tree, (0, 1000, *[1] * n)), (tree, (0, 1000, *[2] * n)))
        shapes = viewer.get('compare_flame', width=100)['shapes']
        rest = shapes['rest'].index(n)
        self.assertEqual((shapes['value'][rest], shapes['a'][rest], shapes['b'][rest]), (2 * n, n, 2 * n))
        self.assertEqual(len(shapes['name']), 4)

    def test_flame_totals_are_those_of_the_tree(self):
        for a, b in ((HEAT, HEAT_2), (DATABASE, DATABASE), (FILTER, FILTER_2)):
            with self.subTest(a=os.path.basename(a)):
                viewer = self.viewer(a, b)
                tree, flame = viewer.get('compare'), viewer.get('compare_flame')
                for side in 'ab':
                    self.assertAlmostEqual(flame['shapes'][side][0], tree[side]['total'], delta=1e-9 * abs(tree[side]['total']))

    # ---- scatter

    def test_scatter_by_hand(self):
        viewer = self.profiles(self.A, self.B)
        points = viewer.get('compare_scatter')['points']
        self.assertEqual({name: (a, b) for name, a, b in zip(points['name'], points['a'], points['b'])},
                         {'main': (1, 1), 'f': (10, 30), 'g': (100, 100), 'old': (5, 0), 'new': (0, 7)})
        points = viewer.get('compare_scatter', kind='inclusive', view='flat')['points']
        self.assertEqual(dict(zip(points['name'], points['b']))['f'], 130)

    def test_scatter_of_many(self):
        """6000 functions: the 5000 largest are points, the others are counted."""
        n = 6000
        tree = f'main({",".join(f"f{i}" for i in range(n))})'
        viewer = self.profiles((tree, (1, *range(1, n + 1))), (tree, (1, *range(1, n + 1))))
        answer = viewer.get('compare_scatter')
        self.assertEqual(len(answer['points']['name']), 5000)
        self.assertEqual(answer['others']['n'] + answer['others']['beyond'], n + 1 - 5000)
        self.assertEqual(sum(answer['others']['count']), answer['others']['n'])
        self.assertGreaterEqual(min(answer['points']['a']), 900)  # the least of them may be any of those that are about as large
        self.assertEqual((answer['low'], answer['high']), (1, n))

    def check_flame(self, a, b, **params):
        """Frames with their amounts on both sides, as flame --diff has them."""
        words = [word for key, value in params.items() for word in (f'--{key.replace("_", "-")}', value)]
        told = run('flame', '--diff', a, b, '--json', '--width-of', 'max', '--min-share', '0', *words).json['nodes']
        expected, paths = {}, []
        for node in told:
            paths.append((() if node['parent'] is None else paths[node['parent']]) + (node['name'],))
            expected[paths[-1]] = [node['a'], node['b'], node['a_self'], node['b_self']]
        shapes, found, paths = self.viewer(a, b).get('compare_flame', width=20000, **params)['shapes'], {}, []
        for i, parent in enumerate(shapes['parent']):
            paths.append(() if shapes['node'][i] is None else paths[parent] + (shapes['name'][i],))
            if shapes['node'][i] is not None and (shapes['a'][i] or shapes['b'][i]):
                found[paths[-1]] = [shapes[key][i] for key in ('a', 'b', 'a_own', 'b_own')]
        self.assertEqual(0, sum(shapes['rest']))
        self.assertEqual(set(expected), set(found))
        for path, numbers in expected.items():
            for want, got in zip(numbers, found[path]):
                self.assertLessEqual(abs(want - got), 1e-9 * max(abs(want), 1e-6), path)

    def test_flame_is_that_of_the_command(self):
        self.check_flame(HEAT, HEAT_2)
        self.check_flame(FILTER, FILTER_2)
        # lines that only call are no frames, on both sides: in the second database one of them has something itself
        second = self.path('second')
        db = hpctoolkit.small()
        first = self.path('first')
        hpctoolkit.write_2021(first, db)
        db.profiles[0].costs[4, 'CPUTIME (sec)'] = 0.75
        db.extra[1, 0, 'CPUTIME (sec)', 'execution'] = 9  # of which the functions have less
        hpctoolkit.write_2021(second, db)
        self.check_flame(first, second, metric='CPUTIME (sec)')
        self.check_flame(DATABASE, DATABASE)

    def test_flame_of_other_metrics(self):
        """Frames of the metric before are used again; the answers are those of viewers that have seen no other. Line 7 of main calls, and has something itself in one metric only: so it is a frame there."""
        time, cycles = 'CPUTIME (sec)', 'cycles'
        pair, db = [self.path('first'), self.path('second')], hpctoolkit.small()
        line = next(node for node in db.nodes() if node.id == 3)
        line.children.append(hpctoolkit.Node(18, 'function', 'log', './src/log.c', 1, '/opt/app/bin/app', 0x600))
        db.profiles[0].costs.update({(18, time): 1.0, (18, cycles): 2e9})
        hpctoolkit.write_4(pair[0], db)
        db.profiles[1].costs[18, time] = 0.75
        hpctoolkit.write_4(pair[1], db)
        for paths, metrics in ((pair, (time, cycles)), ((HEAT, HEAT_2), ('time', 'visits'))):
            asked = [{'metric': name, **more} for name in (*metrics, *metrics) for more in ({}, {'normalize': 1}, {'root': 1})]
            one, alone = self.viewer(*paths), []
            for params in asked[:len(asked) // 2]:
                fresh = Viewer(*paths)
                alone.append(fresh.get('compare_flame', **params))
                fresh.end()
            lines = ['line ./src/main.c:7' in answer['shapes']['name'] for answer in (alone[0], alone[3])]
            self.assertEqual([paths == pair, False], lines)
            for params, expected in zip(asked, alone * 2):
                self.assertEqual(expected, one.get('compare_flame', **params), params)

    # ---- how changes lie over locations

    def over(self, n, base, target, text='main(f g f)', other=None):
        """Two profiles at n processes: rows of exclusive values of main, f, g, f."""
        paths = [self.write(f'{name}.cubex', profile([('time', 'INT64', 'EXCLUSIVE', rows)], tree, processes(len(rows[0]))))
                 for name, rows, tree in (('a', base, text), ('b', target, other or text))]
        return self.viewer(*paths)

    def test_spread_over_locations(self):
        """Changes of main itself: 1, 1, -1, -1; of the first f 2 each; of g 0, 4, 8, 12; of the second f -9, 1, 1, 1. Quartiles lie a quarter of the way between neighbours, as those of stat."""
        base = ((10, 10, 10, 10), (20, 20, 20, 20), (5, 5, 5, 5), (10, 10, 10, 10))
        target = ((11, 11, 9, 9), (22, 22, 22, 22), (5, 9, 13, 17), (1, 11, 11, 11))
        viewer = self.over(4, base, target)
        answer = viewer.get('compare', all=1)
        self.assertEqual(4, answer['locations'])
        told = {row['node']: (row['name'], row['change'], row['quarter'], row['three_quarters']) for rows in rows_of(answer).values() for row in rows}
        # main with all below it: -6, 8, 10, 14 at the four
        self.assertEqual({0: ('main', 26, 4.5, 11), 1: ('f', 8, 2, 2), 2: ('g', 24, 3, 9), 3: ('f', -6, -1.5, 1)}, told)
        points = viewer.get('compare_scatter')['points']
        self.assertEqual({0: (-1, 1), 1: (2, 2), 2: (3, 9), 3: (-1.5, 1)}, dict(zip(points['node'], zip(points['quarter'], points['three_quarters']))))
        # both f are one frame: -7, 3, 3, 3
        shapes = viewer.get('compare_flame')['shapes']
        found = {name: pair for name, pair in zip(shapes['name'], zip(shapes['quarter'], shapes['three_quarters']))}
        self.assertEqual({None: (None, None), 'main': (4.5, 11), 'f': (0.5, 3), 'g': (3, 9)}, found)
        # A's 180 become B's 206: g has 5 * 206 / 180 there
        quarter = rows_of(viewer.get('compare', all=1, normalize=1))[0]
        g = next(row for row in quarter if row['name'] == 'g')
        self.assertAlmostEqual(8 - 5 * 206 / 180, g['quarter'])

    def test_spread_of_functions(self):
        """Both f are one function, with what they do themselves: -7, 3, 3, 3."""
        base = ((10, 10, 10, 10), (20, 20, 20, 20), (5, 5, 5, 5), (10, 10, 10, 10))
        target = ((11, 11, 9, 9), (22, 22, 22, 22), (5, 9, 13, 17), (1, 11, 11, 11))
        viewer = self.over(4, base, target)
        answer = viewer.get('compare', view='flat')
        self.assertEqual(4, answer['locations'])
        expected = {'main': (-1, 1), 'f': (0.5, 3), 'g': (3, 9)}
        rows = answer['rows']
        self.assertEqual(expected, dict(zip(rows['name'], zip(rows['quarter'], rows['three_quarters']))))
        points = viewer.get('compare_scatter', view='flat')['points']
        self.assertEqual(expected, dict(zip(points['name'], zip(points['quarter'], points['three_quarters']))))
        # inclusive: what is inside of another f is counted once
        rows = ((0, 0, 0, 0), (1, 2, 3, 4), (5, 5, 5, 5), (0, 0, 0, 0))
        more = ((0, 0, 0, 0), (2, 4, 6, 8), (9, 9, 9, 9), (0, 0, 0, 0))
        points = self.over(4, rows, more, 'main(f(f) g)').get('compare_scatter', view='flat', kind='inclusive')['points']
        # 5, 6, 7, 8 for f as a whole
        self.assertEqual({'main': (5.75, 7.25), 'f': (5.75, 7.25)}, dict(zip(points['name'], zip(points['quarter'], points['three_quarters']))))

    def test_spread_of_functions_of_a_database(self):
        """Lines (8 in loops, 11 of an inlined function) and a recursion (14) are parts of their functions, each counted once."""
        time, paths = 'CPUTIME (sec)', [self.path('first'), self.path('second')]
        for path, lines, inlined in ((paths[0], (1, 1, 1, 1, 1), (1, 1, 1, 1, 1)), (paths[1], (2, 3, 4, 5, 6), (0.5, 1, 1, 1.25, 2))):
            db = hpctoolkit.small()
            db.extra = {}
            db.profiles = [hpctoolkit.Profile([('NODE', 0, 7), ('RANK', i, i), ('THREAD', 0, 0)], {(8, time): 1 + lines[i], (11, time): inlined[i], (14, time): lines[i]}, [])
                           for i in range(5)]
            hpctoolkit.write_2021(path, db)
        rows = self.viewer(*paths).get('compare', view='flat', metric=time)['rows']
        told = {name: pair for name, *pair in zip(rows['name'], rows['change_exclusive'], rows['quarter'], rows['three_quarters'])}
        # solve: 2, 4, 6, 8, 10; square: -0.5, 0, 0, 0.25, 1
        self.assertEqual(([30, 4, 8], [0.75, 0, 0.25]), (told['solve'], told['square']))

    def test_no_spread(self):
        few = ((1, 2, 3),) * 4
        self.assertEqual(0, self.over(3, few, few).get('compare')['locations'])
        many = ((1, 2, 3, 4),) * 4
        self.assertEqual(0, self.over(4, many, ((1, 2, 3, 4, 5),) * 4).get('compare')['locations'])
        viewer = self.over(4, many, many)
        self.assertEqual(0, viewer.get('compare', location='0')['locations'])
        # what only one of both has is new, not noise
        rows = self.over(4, many, many, 'main(f g f)', 'main(f g h)').get('compare', all=1)['rows']
        self.assertEqual([None], [q for name, q in zip(rows['name'], rows['quarter']) if name == 'h'])

    def test_a_metric_of_one_side_has_no_spread(self):
        """Either side may be the one without: 0 there, and nothing over locations on any of the pictures."""
        rows, time = ((1, 2, 3, 4),) * 4, ('time', 'INT64', 'EXCLUSIVE', ((1, 1, 1, 1),) * 4)
        paths = [self.write(f'{name}.cubex', profile(metrics, 'main(f g f)', processes(4)))
                 for name, metrics in (('with', [time, ('bytes', 'INT64', 'EXCLUSIVE', rows)]), ('without', [time]))]
        for a, b, change in ((0, 1, -40), (1, 0, 40)):
            viewer = self.viewer(paths[a], paths[b])
            answer = viewer.get('compare', metric='bytes')
            self.assertEqual((0, [change]), (answer['locations'], answer['rows']['change'][:1]))
            for name in ('compare_scatter', 'compare_flame'):
                self.assertEqual(0, viewer.get(name, metric='bytes')['locations'])
            self.assertEqual(4, viewer.get('compare', metric='time')['locations'])


if __name__ == '__main__':
    main()
