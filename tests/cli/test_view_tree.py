"""assay view: overview, call trees and single contexts; by hand, and against assay tree, top, stat and info."""
import json
import os

import hpctoolkit
from common import Case, main, run
from cubex import processes, profile
from viewer import Refused, Viewer

EXAMPLES = os.path.join(os.environ['ASSAY_SOURCE'], 'examples')
HEAT = os.path.join(EXAMPLES, 'heat.cubex')
DATABASE = os.path.join(EXAMPLES, 'heat-hpctoolkit')
FILTER = os.path.join(EXAMPLES, 'gpu', 'filter.sqlite')
KERNELS = os.path.join(EXAMPLES, 'kernels.txt')
OTHERS = [os.path.join(EXAMPLES, name) for name in ('simulation.afperf', 'sort-1.perf', 'waves-extra-prof')]

HOT, LEADS = 16, 64  # of the flags of rows

# Exclusive values in brackets; f calls itself.
#   0 main (1)           6 helper (10)
#   1 +- f (2)           7 +- g (20)
#   2 |  +- f (4)
#   3 |  |  +- g (8)
#   4 |  +- g (16)
#   5 +- g (32)
TREE = 'main(f(f(g),g),g) helper(g)'
OWN = ((1,), (2,), (4,), (8,), (16,), (32,), (10,), (20,))


class Trees(Case):
    def viewer(self, *paths):
        viewer = Viewer(*map(str, paths))
        self.addCleanup(viewer.end)
        return viewer

    def small(self):
        return self.viewer(self.write('p.cubex', profile([('time', 'UINT64', 'EXCLUSIVE', OWN)], TREE, processes(1))))

    def refused(self, viewer, path, **params):
        with self.assertRaises(Refused) as caught:
            viewer.get(path, **params)
        return caught.exception

    @staticmethod
    def lists(answer):
        """{node: [(name, inclusive, exclusive) …]} of the first metric."""
        out, at = {}, 0
        for one in answer['lists']:
            end = at + one['rows']
            out[one['node']] = list(zip(answer['rows']['name'][at:end], answer['inclusive'][0][at:end], answer['exclusive'][0][at:end]))
            at = end
        return out


class Rows(Trees):
    def test_the_first_level_and_the_hot_path(self):
        answer = self.small().get('tree')
        self.assertEqual({-1: [('main', 63, 1), ('helper', 30, 10)], 0: [('g', 32, 32), ('f', 30, 2)]}, self.lists(answer))
        self.assertEqual(([0, 5], 93, 8), (answer['hot'], answer['metrics'][0]['whole'], answer['items']))
        self.assertEqual([HOT, 0, HOT, 0], answer['rows']['flags'])
        self.assertEqual([2, 1, 0, 2], answer['rows']['children'])

    def test_integers_are_exact(self):
        """No double has them: what is above is a sum of both, 2^54 + 4."""
        big = 2**53 + 1
        path = self.write('p.cubex', profile([('time', 'DOUBLE', 'EXCLUSIVE', ((1.0, 0.0),) * 4), ('n', 'UINT64', 'EXCLUSIVE', ((1, 0), (big, 0), (1, big), (-1 % 2**63, 0)))], 'main(f g) most', processes(2)))
        viewer = self.viewer(path)
        get = viewer.get
        viewer.get = lambda *words, **params: get(*words, metric='n', **params)
        answer = viewer.get('tree', node=0)
        self.assertEqual({0: [('g', str(big + 1), str(big + 1)), ('f', str(big), str(big))]}, self.lists(answer))
        self.assertEqual([('most', str(2**63 - 1), str(2**63 - 1)), ('main', str(2 * big + 2), 1)], self.lists(viewer.get('tree', node=-1))[-1])
        self.assertEqual([('f', str(big), str(big)), ('g', 1, 1)], self.lists(viewer.get('tree', node=0, location='0'))[0])

    def test_lines_that_call_are_shown_where_they_do_something(self):
        """Line 7 calls f: it is a row of its own in the time, but not in cycles and misses, whose rows are the same. Whatever was asked before, answers are those of a viewer of their own."""
        def node(id, kind, name=None, line=0, children=()):
            return hpctoolkit.Node(id, kind, name, './a.c', line, '/bin/a', 16 * id, children=children)
        called = node(4, 'function', 'f', 20, [node(5, 'line', line=21)])
        again = node(7, 'function', 'f', 20, [node(8, 'line', line=21)])
        program = node(2, 'function', 'main', 5, [node(3, 'line', line=7, children=[called]), node(6, 'line', line=9, children=[again])])
        metrics = ['time (sec)', 'cycles', 'misses']
        costs = {(3, metrics[0]): 1, **{(n, m): 10 * (i + 1) + n for n in (5, 8) for i, m in enumerate(metrics)}}
        database = self.path('database')
        hpctoolkit.write_4(database, hpctoolkit.Database('calls', metrics, [hpctoolkit.Node(1, 'entry', 'main thread', children=[program])], [hpctoolkit.Profile([('NODE', 0, 1), ('RANK', 0, 0)], costs)]))
        viewer = self.viewer(database)

        def answers(viewer, metric):
            return [viewer.get(path, metric=metric, **params) for path, params in (('tree', {'node': 2}), ('tree', {'view': 'flat', 'node': 2}), ('flame', {}))]

        def names(answer):
            return [None if name is None else answer['names'][name] for name in answer['name']]
        known = {metric: answers(self.viewer(database), metric) for metric in metrics}
        self.assertEqual(['f', 'line ./a.c:7'], sorted(known[metrics[0]][0]['rows']['name']))
        self.assertEqual(['f', 'f'], known[metrics[1]][0]['rows']['name'])
        self.assertEqual([1 + 15 + 18, 25 + 28, 35 + 38], [known[metric][2]['total'] for metric in metrics])
        self.assertIn('line ./a.c:7', names(known[metrics[0]][2]))
        self.assertNotIn('line ./a.c:7', names(known[metrics[1]][2]))
        for metric in (metrics[0], metrics[1], metrics[2], metrics[1], metrics[0], metrics[2], metrics[0]):
            self.assertEqual(known[metric], answers(viewer, metric), metric)

    def test_children_sorted_in_all_ways(self):
        viewer = self.small()
        names = lambda **params: [n for n, _, _ in self.lists(viewer.get('tree', node=-1, **params))[-1]]
        self.assertEqual(['main', 'helper'], names())
        self.assertEqual(['helper', 'main'], names(order='ascending'))
        self.assertEqual(['helper', 'main'], names(sort='exclusive'))
        self.assertEqual(['helper', 'main'], names(sort='name'))
        self.assertEqual(['main', 'helper'], names(sort='name', order='descending'))
        self.assertEqual(['main', 'helper'], names(sort='source'))

    def test_pages_levels_and_several_nodes(self):
        viewer = self.small()
        answer = viewer.get('tree', node=0, offset=1, limit=1)
        self.assertEqual([{'node': 0, 'n': 2, 'offset': 1, 'rows': 1}], answer['lists'])
        self.assertEqual(['f'], answer['rows']['name'])
        self.assertEqual({0: [('g', 32, 32), ('f', 30, 2)], 6: [('g', 20, 20)]}, self.lists(viewer.get('tree', node=[0, 6])))
        self.assertEqual([0, 1, 2], [one['node'] for one in viewer.get('tree', node=0, levels=4)['lists']])

    def test_bottom_up(self):
        viewer = self.small()
        answer = viewer.get('tree', view='bottom-up', node=-1)
        self.assertEqual([('g', 76, 76), ('helper', 30, 10), ('f', 30, 6), ('main', 63, 1)], self.lists(answer)[-1])
        g = answer['rows']['node'][0]
        callers = viewer.get('tree', view='bottom-up', node=g)
        self.assertEqual([('main', 32, 32), ('f', 24, 24), ('helper', 20, 20)], self.lists(callers)[g])
        f = callers['rows']['node'][1]
        self.assertEqual([('main', 16, 16), ('f', 8, 8)], self.lists(viewer.get('tree', view='bottom-up', node=f))[f])

    def test_flat_counts_recursion_once(self):
        answer = self.small().get('tree', view='flat')
        self.assertEqual([('g', 76, 76), ('helper', 30, 10), ('f', 30, 6), ('main', 63, 1)], self.lists(answer)[-1])
        self.assertEqual('region', answer['by'])

    def test_a_subtree_is_all_there_is(self):
        answer = self.small().get('tree', root=1)
        self.assertEqual((30, [('f', 30, 2)]), (answer['metrics'][0]['whole'], self.lists(answer)[-1]))
        flat = self.small().get('tree', root=1, view='flat')
        self.assertEqual([('g', 24, 24), ('f', 30, 6)], self.lists(flat)[-1])

    def test_matches(self):
        viewer = self.small()
        answer = viewer.get('tree', match='F', node=-1)
        self.assertEqual((0, [0]), (answer['found']['n'], answer['found']['inclusive']))
        answer = viewer.get('tree', match='/^f$/', node=-1)
        self.assertEqual((2, [30], [6]), (answer['found']['n'], answer['found']['inclusive'], answer['found']['exclusive']))
        self.assertEqual([HOT | LEADS, 0], answer['rows']['flags'])
        filtered = viewer.get('tree', match='f', filter=1, node=[-1, 0])
        self.assertEqual({-1: [('main', 63, 1)], 0: [('f', 30, 2)]}, self.lists(filtered))

    def test_from_match_to_match_and_round(self):
        viewer, at, seen = self.small(), None, []
        for _ in range(5):
            answer = viewer.get('tree', match='g', find='next', **({} if at is None else {'from': at}))
            at = answer['at']
            seen.append(at)
            self.assertIn(at, answer['rows']['node'])
        self.assertEqual([5, 4, 3, 7, 5], seen)  # by inclusive values: main, g, f, g, f, g, helper, g
        self.assertEqual(7, viewer.get('tree', match='g', find='previous')['at'])

    def test_the_way_to_a_node_and_the_hot_path_below_it(self):
        viewer = self.small()
        self.assertEqual([-1, 0, 1, 2], [one['node'] for one in viewer.get('tree', reveal=3)['lists']])
        hot = viewer.get('tree', hot=1)
        self.assertEqual(([1], 4), ([one['node'] for one in hot['lists']], hot['at']))  # 16 of 30

    def test_hundreds_of_nodes(self):
        path = self.write('wide.txt', 'PARAMETER p\nPOINTS 1 2\n' + ''.join(f'REGION main->f{i}->g\nMETRIC time\nDATA 1\nDATA 2\n' for i in range(300)))
        viewer = self.viewer(path)
        nodes = [c['id'] for c in run('sql', path, "select id from context where depth = 1", '--json').json]
        self.assertEqual(300, len(nodes))
        answer = viewer.get('tree', node=nodes)
        self.assertEqual(nodes, [a['node'] for a in answer['lists']])

    def test_metrics_are_bounded(self):
        viewer = self.small()
        self.assertEqual(256, len(viewer.get('tree', metrics=','.join(['0'] * 256))['metrics']))
        self.assertEqual(400, self.refused(viewer, 'tree', metrics=','.join(['0'] * 257)).status)
        self.assertEqual(400, self.refused(viewer, 'tree', whole=150001).status)

    def test_hidden_nodes(self):
        """What no row has any more is told: of nodes what they have themselves, of subtrees all of it."""
        viewer = self.small()
        answer = viewer.get('tree', hide='^f$', node=[-1, 0])
        self.assertEqual({-1: [('main', 63, 1), ('helper', 30, 10)], 0: [('g', 32, 32), ('g', 16, 16), ('g', 8, 8)]}, self.lists(answer))
        self.assertEqual(({'n': 2, 'values': [6]}, 93, 6), (answer['hidden'], answer['metrics'][0]['whole'], answer['items']))
        answer = viewer.get('tree', **{'hide-subtree': '^f$', 'node': [-1, 0]})
        self.assertEqual({-1: [('main', 63, 1), ('helper', 30, 10)], 0: [('g', 32, 32)]}, self.lists(answer))
        self.assertEqual({'n': 4, 'values': [30]}, answer['hidden'])
        both = viewer.get('tree', **{'hide': ['^main$', 'nothing'], 'hide-subtree': 'f', 'node': -1})
        self.assertEqual(([('g', 32, 32), ('helper', 30, 10)], {'n': 5, 'values': [31]}), (self.lists(both)[-1], both['hidden']))
        self.assertIsNone(viewer.get('tree')['hidden'])
        self.assertEqual({-1: [('main', 63, 1), ('helper', 30, 10)]}, self.lists(viewer.get('tree', hide='nothing', node=-1)))

    def test_hidden_where_there_is_no_room_for_two_tables(self):
        """12,001 call paths in 256 columns, of one metric: main, 6,000 functions below it, and below each g with 1."""
        viewer = self.viewer(self.write('p.folded', ''.join(f'main;f{i};g 1\n' for i in range(6000))))
        wide = {'metrics': ','.join(['0'] * 256), 'limit': 2}
        for _ in range(2):
            answer = viewer.get('tree', hide='^main$', node=-1, **wide)
            self.assertEqual((12000, {'n': 1, 'values': [0] * 256}), (answer['items'], answer['hidden']))
            self.assertEqual({-1: [('f0', 1, 0), ('f1', 1, 0)]}, self.lists(answer))
            self.assertEqual([[1, 1]] * 256, answer['inclusive'])
            answer = viewer.get('tree', node=[-1, 0], **{'hide-subtree': '^f[0-9]*[1-9]$'}, **wide)
            self.assertEqual((1201, {'n': 10800, 'values': [5400] * 256}), (answer['items'], answer['hidden']))
            self.assertEqual({-1: [('main', 6000, 0)], 0: [('f0', 1, 0), ('f10', 1, 0)]}, self.lists(answer))
            answer = viewer.get('tree', node=[-1, 0], **wide)
            self.assertEqual((12001, None), (answer['items'], answer['hidden']))
            self.assertEqual({-1: [('main', 6000, 0)], 0: [('f0', 1, 0), ('f1', 1, 0)]}, self.lists(answer))

    def test_hidden_functions(self):
        viewer = self.small()
        answer = viewer.get('tree', view='bottom-up', hide='^f$', node=-1)
        self.assertEqual(([('g', 76, 76), ('helper', 30, 10), ('main', 63, 1)], {'n': 1, 'values': [6]}), (self.lists(answer)[-1], answer['hidden']))
        g = answer['rows']['node'][0]
        self.assertEqual([('main', 56, 56), ('helper', 20, 20)], self.lists(viewer.get('tree', view='bottom-up', hide='^f$', node=g))[g])
        answer = viewer.get('tree', view='flat', hide='^[fg]$')
        self.assertEqual(([('helper', 30, 10), ('main', 63, 1)], {'n': 2, 'values': [82]}), (self.lists(answer)[-1], answer['hidden']))

    def test_hidden_values_of_a_metric_that_details_had_first(self):
        """Details have all metrics: what is hidden of one of them is known to the tree that comes behind them, too."""
        visits = tuple((2 * own,) for own, in OWN)
        path = self.write('two.cubex', profile([('time', 'UINT64', 'EXCLUSIVE', OWN), ('visits', 'UINT64', 'EXCLUSIVE', visits)], TREE, processes(1)))
        viewer = self.viewer(path)
        asked = {'view': 'flat', 'hide': '^[fg]$'}
        helper = viewer.get('tree', metrics='0', **asked)['rows']['node'][0]
        values = viewer.get('node', metrics='0', node=helper, **asked)['values']
        self.assertEqual([(30, 10), (60, 20)], [(value['inclusive'], value['exclusive']) for value in values])
        answer = viewer.get('tree', metrics='1', **asked)
        self.assertEqual(([('helper', 60, 20), ('main', 126, 2)], {'n': 2, 'values': [164]}), (self.lists(answer)[-1], answer['hidden']))

    def test_a_hidden_node_shows_what_is_above_it(self):
        answer = self.small().get('tree', hide='^g$', reveal=3)
        self.assertEqual({-1: [('main', 63, 1), ('helper', 30, 10)], 0: [('f', 30, 2)], 1: [('f', 12, 4)]}, self.lists(answer))

    def test_least_shares(self):
        """9.3 are 10 %, 27.9 are 30 % of the whole; what leads to more stays."""
        viewer = self.small()
        answer = viewer.get('tree', levels=9, node=-1, **{'min-share': '10'})
        self.assertEqual({-1: [('main', 63, 1), ('helper', 30, 10)], 0: [('g', 32, 32), ('f', 30, 2)], 6: [('g', 20, 20)], 1: [('g', 16, 16), ('f', 12, 4)]}, self.lists(answer))
        self.assertEqual([2, 1, 0, 2, 0, 0, 0], answer['rows']['children'])
        self.assertEqual([('g', 76, 76), ('helper', 30, 10)], self.lists(viewer.get('tree', view='bottom-up', node=-1, **{'min-share': '10%'}))[-1])
        self.assertEqual([('g', 76, 76)], self.lists(viewer.get('tree', view='flat', **{'min-share': '30'}))[-1])
        self.assertEqual([('g', 76, 76), ('main', 63, 1), ('f', 30, 6), ('helper', 30, 10)],
                         self.lists(viewer.get('tree', view='flat', sort='inclusive', **{'min-share': '30'}))[-1])
        # Matches that are too small are none
        found = viewer.get('tree', match='g', filter=1, levels=9, node=-1, **{'min-share': '30'})
        self.assertEqual(({-1: [('main', 63, 1)], 0: [('g', 32, 32)]}, 1), (self.lists(found), found['found']['n']))

    def test_what_cannot_be_asked(self):
        viewer = self.small()
        for params in ({'view': 'up'}, {'sort': 'x'}, {'order': 'x'}, {'node': 'x'}, {'node': '1.5'}, {'limit': 0}, {'limit': 99999}, {'levels': 0}, {'root': 8},
                       {'root': -1}, {'metrics': '7'}, {'metrics': 'x'}, {'metric': 'x'}, {'view': 'flat', 'by': 'x'}, {'match': '/(/'}, {'sort_metric': 1},
                       {'reveal': 'x'}, {'location': '9'}, {'run': '7'}, {'d': 1}, {'hide': '('}, {'hide': '(((x{1,200}){1,200}){1,200}){1,200}'}, {'hide-subtree': '['}, {'min-share': 'x'}, {'min-share': '101'}):
            with self.subTest(params=params):
                self.assertEqual(400, self.refused(viewer, 'tree', **params).status)
        for params in ({'node': 99}, {'reveal': 99}, {'hot': 99}, {'node': 2**52}, {'view': 'bottom-up', 'node': 5 << 32 | 3}):
            with self.subTest(params=params):
                answer = viewer.get('tree', **params)
                self.assertEqual('node' not in params, bool(answer['rows']['node']))  # else as if nothing were asked

    def test_names_are_only_text(self):
        name = '<script>alert(1)</script>'
        path = self.write('p.txt', f'PARAMETER p\nPOINTS 1 2\nREGION {name}\nMETRIC {name}\nDATA 1\nDATA 2\n')
        self.assertEqual([name], self.viewer(path).get('tree')['rows']['name'])


class Derived(Trees):
    def test_metrics_of_formulas(self):
        """view --derive: half of the time, beside it; inputs that lack the metric have no such."""
        half = 'half [s]=time/2'
        viewer = self.viewer('--derive', half, self.write('p.cubex', profile([('time', 'UINT64', 'EXCLUSIVE', OWN)], TREE, processes(1))), DATABASE)
        first, second = (one['metrics'] for one in viewer.get('inputs')['inputs'])
        self.assertEqual([('time', None), ('half', half)], [(m['name'], m.get('derive')) for m in first])
        self.assertEqual([], [m['name'] for m in second if 'derive' in m])
        answer = viewer.get('tree', metrics='1', node=-1)
        self.assertEqual([('main', 31.5, 0.5), ('helper', 15, 5)], self.lists(answer)[-1])

    def test_formulas_that_no_input_can_have(self):
        with self.assertRaisesRegex(RuntimeError, 'ended with 2: .*nothing'):
            self.viewer('--derive', 'x=nothing/2', HEAT)


class SameAsTheCommand(Trees):
    def check(self, path, *options, **params):
        """All of a view has the rows and numbers of assay tree."""
        viewer = self.viewer(path)
        answer = viewer.get('tree', limit=5000, levels=50, node=-1, **params)
        metric = answer['metrics'][0]['name']
        rows = map(json.loads, run('tree', '--jsonl', path, '--metric', metric, *options).out.splitlines())
        theirs = sorted((row['name'] or '(unknown)', row['inclusive'], row['exclusive']) for row in rows)
        ours = sorted(zip(answer['rows']['name'], answer['inclusive'][0], answer['exclusive'][0]))
        self.assertEqual(len(theirs), len(ours))
        for mine, other in zip(ours, theirs):
            self.assertEqual(other[0], mine[0])
            for a, b in zip(mine[1:], other[1:]):
                self.assertTrue(a == b or abs(a - b) <= 1e-9 * abs(b), (mine, other))

    def test_cube(self):
        self.check(HEAT)
        self.check(HEAT, '--flat', '--by', 'file', view='flat', by='file')
        self.check(HEAT, '--bottom-up', view='bottom-up')
        self.check(HEAT, '--location', '3', location='3')

    def test_hidden_and_small(self):
        for path in HEAT, FILTER:
            for view in {}, {'view': 'bottom-up'}, {'view': 'flat', 'by': 'region'}:
                words = ['--by', 'region'] if 'by' in view else [f'--{value}' for value in view.values()]
                with self.subTest(path=path, view=view):
                    self.check(path, *words, '--hide', '^(main|solve|filter)', '--hide-subtree', 'MPI_I|cudaMalloc', **view, hide='^(main|solve|filter)',
                               **{'hide-subtree': 'MPI_I|cudaMalloc'})
                    self.check(path, *words, '--min-share', '3', **view, metric='time', **{'min-share': '3'})

    def test_small_as_people_see_it(self):
        """The time of GPUs beside that of the host is a reason to be shown; lines that do nothing but call are no rows."""
        for path in FILTER, DATABASE:
            for share in '1', '3', '10':
                with self.subTest(path=path, share=share):
                    lines = run('tree', path, '--min-share', share, '--full-names').out.splitlines()[2:]
                    answer = self.viewer(path).get('tree', limit=5000, levels=50, node=-1, **{'min-share': share})
                    self.assertEqual(len([line for line in lines if 'more below' not in line]), len(answer['rows']['name']))

    def test_one_call_path(self):
        self.check(HEAT, '--context', '6', root=6)
        self.check(HEAT, '--context', '6', '--bottom-up', root=6, view='bottom-up')

    def test_trees_of_gpu_activities(self):
        for by in 'kernel', 'api', 'nvtx':
            with self.subTest(by=by):
                self.check(FILTER, '--by', by, by=by)
                answer = self.viewer(FILTER).get('tree', by=by)
                self.assertEqual((by, 'bottom-up' if by == 'kernel' else 'top-down'), (answer['by'], answer['view']))
                self.assertEqual({None}, set(answer['rows']['context']))  # its contexts are no contexts of the input
        self.assertEqual(['kernel', 'api', 'nvtx'], self.viewer(FILTER).get('inputs')['inputs'][0]['has']['regroupings'])

    def test_metrics_of_gpu_activities(self):
        """By their numbers in the input, which the answer has, too."""
        viewer = self.viewer(FILTER)
        ids = {metric['name']: metric['id'] for metric in viewer.get('inputs')['inputs'][0]['metrics']}
        answer = viewer.get('tree', by='api', metrics=f"{ids['visits']},{ids['gpu_time']}")
        self.assertEqual([('visits', ids['visits']), ('gpu_time', ids['gpu_time'])], [(m['name'], m['id']) for m in answer['metrics']])

    def test_inputs_without_gpu_activities(self):
        viewer = self.viewer(HEAT)
        self.assertEqual([], viewer.get('inputs')['inputs'][0]['has']['regroupings'])
        refused = self.refused(viewer, 'tree', by='kernel')
        self.assertEqual(422, refused.status)
        self.assertIn('GPU activities', refused.message)

    def test_experiments(self):
        viewer = self.viewer(KERNELS)
        answer = viewer.get('tree')
        self.assertEqual('n=1024, mean of 5 runs', answer['run'])
        self.assertIsNone(answer['exclusive'][0][0])
        self.assertEqual('n=128', viewer.get('tree', run='n=128')['run'].split(',')[0])


class Overviews(Trees):
    def test_what_info_says(self):
        answer = self.viewer(HEAT).get('overview')
        told = json.loads(run('info', '--json', HEAT).out)
        del told['file']
        self.assertEqual(told, answer['info'])
        self.assertEqual((HEAT, 'Cube profile', 4), (answer['path'], answer['title'], answer['levels']))

    def test_the_hot_path_and_the_functions(self):
        viewer = self.small()
        answer = viewer.get('overview')
        self.assertEqual((['main', 'g'], [[63, 32]]), (answer['hot_path']['rows']['name'], answer['hot_path']['inclusive']))
        answer = viewer.get('findings')
        self.assertEqual((['g', 'helper', 'f', 'main'], [[76, 10, 6, 1]]), (answer['functions']['rows']['name'], answer['functions']['exclusive']))

    def test_balance_is_that_of_stat(self):
        answer = self.viewer(HEAT).get('findings')
        first = answer['balance']['rows'][0]
        told = [json.loads(line) for line in run('stat', '--jsonl', HEAT, '--metric', 'time', '--exclusive').out.splitlines()]
        one = next(row for row in told if row['callpath'] == first['path'])
        self.assertEqual((one['max'], one['mean'], one['imbalance']), (first['max'], first['mean'], first['imbalance']))
        self.assertAlmostEqual(max((row['max'] - row['mean']) * row['count'] for row in told), first['excess'])
        self.assertEqual(['visits', 'time', 'bytes_sent', 'bytes_received'], [total['name'] for total in answer['totals']])

    def test_totals_are_of_metrics_that_have_values(self):
        # m05 has none at the larger point; of the others the first 24, and the one that is asked for
        values = [(p, m) for p in (1, 2) for m in range(40) if (p, m) != (2, 5)]
        lines = [json.dumps({'params': {'p': p}, 'callpath': 'main', 'metric': f'm{m:02}', 'value': 10 * m + p}) for p, m in values]
        viewer = self.viewer(self.write('many.jsonl', '\n'.join(lines) + '\n'))
        first = {f'm{m:02}': 10 * m + 2 for m in range(25) if m != 5}
        for metric, expected in (('m00', first), ('m39', {**first, 'm39': 392})):
            totals = viewer.get('findings', metric=metric)['totals']
            self.assertEqual(expected, {total['name']: total['all'] for total in totals}, metric)
        self.assertIn(('m05', None), [(total['name'], total['all']) for total in viewer.get('findings', metric='m05')['totals']])

    def test_gpus(self):
        answer = self.viewer(FILTER).get('findings')
        told = json.loads(run('info', '--json', FILTER).out)['gpus']
        self.assertEqual([(gpu['name'], gpu['busy'], gpu['kernels']) for gpu in told], [(gpu['name'], gpu['busy'], gpu['kernels']) for gpu in answer['gpus']])
        self.assertGreater(len(answer['kernels']), 0)

    def test_problems_are_counted_and_few(self):
        lines = ''.join(f'DATA {i}\n' for i in range(2))
        path = self.write('p.txt', f'PARAMETER p\nPOINTS 1 2\nREGION r\nMETRIC time\n{lines}')
        answer = self.viewer(path).get('overview')
        self.assertEqual(answer['problem_counts']['all'], len(answer['info']['problems']))

    def test_every_format_has_one(self):
        paths = [HEAT, DATABASE, FILTER, KERNELS, *OTHERS]
        viewer = self.viewer(*paths)
        for d, path in enumerate(paths):
            with self.subTest(path=path):
                answer = viewer.get('overview', d=d)
                self.assertGreater(len(answer['metrics']), 0)
                self.assertGreater(len(viewer.get('findings', d=d)['functions']['rows']['name']), 0)
                for view in ('top-down', 'bottom-up', 'flat'):
                    tree = viewer.get('tree', d=d, view=view)
                    self.assertEqual(sum(one['rows'] for one in tree['lists']), len(tree['rows']['name']))
                context = viewer.get('tree', d=d)['rows']['context'][-1]
                self.assertEqual(context, viewer.get('node', d=d, context=context)['context'])


class Nodes(Trees):
    def test_path_values_and_relatives(self):
        answer = self.small().get('node', context=2)
        self.assertEqual(['main', 'f', 'f'], [step['name'] for step in answer['path']])
        self.assertEqual((12, 4), (answer['values'][0]['inclusive'], answer['values'][0]['exclusive']))
        # Direct calls of f, all of them together: by main (30) and by itself (12); it calls itself, and g twice (8 and 16)
        self.assertEqual([('main', 30), ('f', 12)], [(row['name'], row['value']) for row in answer['callers']['rows']])
        self.assertEqual([('g', 24), ('f', 12)], [(row['name'], row['value']) for row in answer['callees']['rows']])
        self.assertEqual(2, answer['calls'])

    def test_calls_inside_others_are_part_of_them(self):
        # The outer call of b has 22 (10 + 8 + 4), with the 4 of the inner one; 5 lie beside them
        tree = 'main(a(b(a(b))),a(b))'
        own = ((1,), (8,), (10,), (8,), (4,), (2,), (5,))
        viewer = self.viewer(self.write('r.cubex', profile([('time', 'UINT64', 'EXCLUSIVE', own)], tree, processes(1))))
        answer = viewer.get('node', context=1)
        self.assertEqual([('main', 37, 2), ('b', 12, 1)], self.relatives(answer['callers']))
        self.assertEqual([('b', 27, 3)], self.relatives(answer['callees']))
        answer = viewer.get('node', context=2)
        self.assertEqual([('a', 27, 3)], self.relatives(answer['callers']))
        self.assertEqual([('a', 12, 1)], self.relatives(answer['callees']))

    @staticmethod
    def relatives(answer):
        return [(row['name'], row['value'], row['n']) for row in answer['rows']]

    def test_integers_are_exact(self):
        big = 2**53 + 1
        path = self.write('p.cubex', profile([('n', 'UINT64', 'EXCLUSIVE', ((big,),))], 'main', processes(1)))
        self.assertEqual(str(big), self.viewer(path).get('node', context=0)['values'][0]['inclusive'])

    def test_source_lines(self):
        answer = self.viewer(DATABASE).get('node', context=16)
        source = answer['source']
        self.assertEqual(('src/heat.c', 33), (source['file'], source['line']))
        with open(os.path.join(DATABASE, 'src', 'heat.c'), encoding='utf-8') as f:
            lines = f.read().splitlines()
        first = source['first']
        self.assertEqual([line.rstrip() for line in lines[first - 1:first - 1 + len(source['lines'])]], source['lines'])

    def test_what_is_not_there(self):
        self.assertEqual(400, self.refused(self.small(), 'node', context=8).status)


class RowsInDetail(Trees):
    """Rows of views whose rows are no contexts."""

    @staticmethod
    def numbers(answer):
        return answer['name'], answer['values'][0]['inclusive'], answer['values'][0]['exclusive']

    def row(self, viewer, name, **params):
        answer = viewer.get('tree', **params)
        return answer['rows']['node'][answer['rows']['name'].index(name)]

    def over_two(self):
        """The small tree on two processes: the second has ten times as much."""
        return self.viewer(self.write('p.cubex', profile([('time', 'UINT64', 'EXCLUSIVE', [(n, 10 * n) for (n,) in OWN])], TREE, processes(2))))

    def test_functions_have_what_all_their_calls_have(self):
        viewer = self.over_two()
        f = self.row(viewer, 'f', view='flat')
        answer = viewer.get('node', view='flat', node=f)
        self.assertEqual(('f', 11 * 30, 11 * 6), self.numbers(answer))
        rows = viewer.get('tree', view='flat')['rows']
        for one in (*answer['callers']['rows'], *answer['callees']['rows']):
            self.assertEqual(one['name'], rows['name'][rows['node'].index(one['node'])])
        self.assertEqual([30, 300], viewer.get('locations', view='flat', node=f)['places']['value'])
        self.assertEqual([6, 60], viewer.get('locations', view='flat', node=f, kind='exclusive')['places']['value'])
        self.assertEqual([24, 240], viewer.get('locations', view='flat', root=1, node=self.row(viewer, 'g', view='flat', root=1))['places']['value'])

    def test_a_way_to_a_function(self):
        viewer = self.over_two()
        g = self.row(viewer, 'g', view='bottom-up')
        for way, own in (((), 76), (('f',), 24), (('f', 'main'), 16), (('f', 'f'), 8), (('main',), 32), (('helper',), 20)):
            node, names = g, ['g']
            for name in way:
                node = self.row(viewer, name, view='bottom-up', node=node)
                names.append(name)
            answer = viewer.get('node', view='bottom-up', node=node)
            self.assertEqual((names[-1], 11 * own, 11 * own), self.numbers(answer))
            self.assertEqual(names, [step['name'] for step in answer['path']])
            self.assertEqual([own, 10 * own], viewer.get('locations', view='bottom-up', node=node)['places']['value'], way)

    def test_files_have_values_and_no_callers(self):
        viewer = self.viewer(HEAT)
        tree = viewer.get('tree', view='flat', by='file')
        answer = viewer.get('node', view='flat', by='file', node=tree['rows']['node'][0])
        self.assertEqual((tree['rows']['name'][0], tree['inclusive'][0][0], tree['exclusive'][0][0]), self.numbers(answer))
        self.assertEqual((None, 0, 0, []), (answer['context'], answer['callers']['n'], answer['callees']['n'], answer['attributes']))

    def test_gpu_activities_have_what_nsys_says(self):
        viewer = self.viewer(FILTER)
        report = json.loads(run('stat', '--report', 'cuda_gpu_kern_sum:base', '--json', FILTER).out)
        kernels = {row['Name']: row['Total Time (ns)'] for row in report['rows']}
        self.assertEqual(4, len(kernels))
        for name, nanoseconds in kernels.items():
            node = self.row(viewer, f'GPU {name}', by='kernel')
            answer = viewer.get('node', by='kernel', node=node)
            gpu_time = next(v for v in answer['values'] if v['name'] == 'gpu_time')
            self.assertAlmostEqual(nanoseconds / 1e9, gpu_time['inclusive'], 12)
            self.assertEqual(['cudaLaunchKernel_v7000'], [one['name'] for one in answer['callers']['rows']])
            places = viewer.get('locations', tree='kernel', node=node, metric='gpu_time')
            self.assertAlmostEqual(nanoseconds / 1e9, places['statistics']['sum'], 12)

    def test_every_row_of_gpu_trees(self):
        viewer = self.viewer(FILTER)
        for by in 'kernel', 'api', 'nvtx':
            tree = viewer.get('tree', by=by, levels=9)
            for node, name, inclusive in zip(tree['rows']['node'], tree['rows']['name'], tree['inclusive'][0]):
                answer = viewer.get('node', by=by, node=node)
                self.assertEqual(name, answer['name'])
                values = {v['id']: v['inclusive'] for v in answer['values']}  # none: it has nothing of the metric
                self.assertAlmostEqual(inclusive or 0, values.get(tree['metrics'][0]['id']) or 0, 12, (by, name))

    def test_what_is_not_there(self):
        viewer = self.small()
        for params in ({'view': 'flat', 'node': 99}, {'view': 'bottom-up', 'node': 99}, {'view': 'bottom-up', 'node': 2**52}):
            for path in 'node', 'locations':
                self.assertEqual(422, self.refused(viewer, path, **params).status, (path, params))
        for params in ({'view': 'flat', 'node': -1}, {'view': 'flat', 'node': 'x'}, {'by': 'nothing', 'view': 'flat', 'node': 0}):
            self.assertEqual(400, self.refused(viewer, 'node', **params).status, params)


class Deep(Trees):
    def test_ten_thousand_levels(self):
        depth = 10000
        path = self.write('p.txt', 'PARAMETER p\nPOINTS 1 2\n' + ''.join(
            f'REGION {"->".join(["f"] * n)}\nMETRIC time\nDATA 1\nDATA 2\n' for n in (1, 50)))
        text = 'f(' * (depth - 1) + 'f' + ')' * (depth - 1)
        cube = self.write('deep.cubex', profile([('time', 'UINT64', 'EXCLUSIVE', [(1,)] * depth)], text, processes(1)))
        viewer = self.viewer(cube, path)
        answer = viewer.get('tree')
        self.assertEqual((depth, depth), (answer['items'], answer['inclusive'][0][0]))
        self.assertEqual(200, len(viewer.get('node', context=depth - 1)['path']))
        self.assertLessEqual(len(viewer.get('tree', reveal=depth - 1)['rows']['node']), 5000 + 1)
        self.assertEqual([('f', depth, depth)], self.lists(viewer.get('tree', view='flat'))[-1])
        bottom = viewer.get('tree', view='bottom-up')
        self.assertEqual(depth, bottom['inclusive'][0][0])
        viewer.get('overview')


class Cut(Case):
    """Bottom-up views of deep recursion are cut, and what is further up comes when it is asked for."""
    FUNCTIONS, DEPTH = 60, 400

    def test_callers_of_many_at_once(self):
        """Each takes about a second, in which nobody else is answered: an answer has some of them, and another the rest."""
        stack = ''.join(f';r{k % 7}' for k in range(self.DEPTH))
        path = self.write('deep.folded', ''.join(f'main{k}{stack};f{k % self.FUNCTIONS} 1\n' for k in range(self.FUNCTIONS * 40)))
        with Viewer(path) as viewer:
            first = viewer.get('tree', view='bottom-up', limit=5000)
            nodes = [node for node, children in zip(first['rows']['node'], first['rows']['children']) if children != 0]
            self.assertEqual(self.FUNCTIONS + 7, len(nodes))
            answer = viewer.get('tree', view='bottom-up', node=nodes)
            got = {each['node'] for each in answer['lists']}
            self.assertEqual(5, len(got), 'of 964,800 contexts each')
            for node in [node for node in nodes if node not in got][:2]:
                again = viewer.get('tree', view='bottom-up', node=node)
                self.assertEqual([node], [each['node'] for each in again['lists']], 'who asks again gets it')

    def test_numbers_of_nodes(self):
        path = self.write('a.folded', 'main;f 1\n')
        with Viewer(path) as viewer:
            for node in ('1e19', '18446744073709551615', str(2**53 + 1), '9223372036854775808', '1e999', '-2', '1.5', ''):
                with self.assertRaises(Refused, msg=node) as caught:
                    viewer.get('tree', node=node)
                self.assertEqual(400, caught.exception.status, node)
            self.assertEqual([], viewer.get('tree', node=2**53)['lists'])


class Bounds(Case):
    """An answer has 600,000 values at most, whatever is asked for."""
    DERIVES = [f'm{k}=samples*{k + 2}' for k in range(15)]  # with samples 16 metrics: 32 values a row

    def test_values(self):
        path = self.write('wide.folded', ''.join(f'main;f{i} {i + 1}\n' for i in range(40000)))
        with Viewer(path) as viewer:
            metrics = ','.join(map(str, range(16)))
            whole = viewer.get('tree', derive=self.DERIVES, metrics=metrics, whole=150000)
            n = sum(each['rows'] for each in whole['lists'])
            self.assertEqual(16, len(whole['inclusive']))
            self.assertTrue(10000 < n <= 600000 // 32, n)
            self.assertEqual(40001 - n, whole['left_out'])
            self.assertGreater(whole['min_share'], 0)
            self.assertEqual(40001, sum(each['rows'] for each in viewer.get('tree', whole=150000)['lists']), 'of one metric all fit')

    def test_rows(self):
        """256 metrics, the most there may be, are 512 values a row."""
        path = self.write('wide.folded', ''.join(f'main;f{i} {i + 1}\n' for i in range(6000)))
        with Viewer(path) as viewer:
            metrics = ','.join(str(k % 16) for k in range(256))
            answer = viewer.get('tree', derive=self.DERIVES, metrics=metrics, node=0, limit=5000)
            self.assertEqual([(6000, 600000 // 512)], [(each['n'], each['rows']) for each in answer['lists']])
            self.assertEqual([(6000, 5000)], [(each['n'], each['rows']) for each in viewer.get('tree', node=0, limit=5000)['lists']])


if __name__ == '__main__':
    main()