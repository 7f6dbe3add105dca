"""assay view: how a metric lies over locations, and the tree of them; by hand, and against assay stat."""
import math
import os
import statistics

from common import SMALL, Case, main, run
from cubex import processes, profile
from viewer import Refused, Viewer

EXAMPLES = os.path.join(os.environ['ASSAY_SOURCE'], 'examples')
HEAT = os.path.join(EXAMPLES, 'heat.cubex')
DATABASE = os.path.join(EXAMPLES, 'heat-hpctoolkit')
FILTER = os.path.join(EXAMPLES, 'gpu', 'filter.sqlite')

# Two processes of two threads: what main and sort have themselves.
OWN = ((1.0, 2.0, 3.0, 4.0), (10.0, 20.0, 30.0, 140.0))


class Locations(Case):
    def viewer(self, *paths):
        viewer = Viewer(*map(str, paths))
        self.addCleanup(viewer.end)
        return viewer

    def profile(self, n=2, threads=2, values=OWN, dtype='DOUBLE', kind='EXCLUSIVE', text='main(sort)'):
        return self.write('p.cubex', profile([('time', dtype, kind, values)], text, processes(n, threads)))

    def refused(self, viewer, path, **params):
        with self.assertRaises(Refused) as caught:
            viewer.get(path, **params)
        return caught.exception


class Numbers(Locations):
    def test_the_whole_program(self):
        answer = self.viewer(self.profile()).get('locations')
        self.assertEqual(('locations', None, None, 4, 2), (answer['over'], answer['context'], answer['path'], answer['n'], answer['n_processes']))
        self.assertEqual([11, 22, 33, 144], answer['places']['value'])
        s = answer['statistics']
        self.assertEqual((4, 210, 52.5, 11, 144, '0.0', '1.1'), (s['count'], s['sum'], s['mean'], s['min'], s['max'], s['min_at'], s['max_at']))
        self.assertAlmostEqual(statistics.pstdev([11, 22, 33, 144]), s['stddev'])
        self.assertAlmostEqual(144 / 52.5 - 1, s['imbalance'])
        self.assertAlmostEqual((144 - 52.5) * 4, s['excess'])
        self.assertEqual((19.25, 27.5, 60.75), (s['q1'], s['median'], s['q3']))  # linear between neighbours, at 0.75, 1.5 and 2.25

    def test_a_call_path_inclusive_and_exclusive(self):
        viewer = self.viewer(self.profile())
        self.assertEqual([11, 22, 33, 144], viewer.get('locations', context=0)['places']['value'])
        own = viewer.get('locations', context=0, kind='exclusive')
        self.assertEqual(([1, 2, 3, 4], 'exclusive', 'main'), (own['places']['value'], own['kind'], own['path']))
        sort = viewer.get('locations', context=1)
        self.assertEqual(([10, 20, 30, 140], 'main->sort'), (sort['places']['value'], sort['path']))

    def test_several_roots_are_added(self):
        path = self.write('p.cubex', profile([('time', 'UINT64', 'EXCLUSIVE', ((1, 2), (10, 20)))], 'main other', processes(2)))
        answer = self.viewer(path).get('locations')
        self.assertEqual(([11, 22], True), (answer['places']['value'], answer['is_integer']))

    def test_integers_beyond_what_javascript_knows_are_texts(self):
        big = 2**53
        answer = self.viewer(self.profile(2, 1, ((big + 1, big), (0, 0)), 'UINT64')).get('locations')
        self.assertEqual([str(big + 1), big], answer['places']['value'])
        self.assertEqual(str(2 * big + 1), answer['statistics']['sum'])

        tree = self.viewer(self.profile(2, 1, ((big + 3, big + 1), (0, 0)), 'UINT64')).get('location_tree')
        self.assertEqual((str(2 * big + 4), str(big + 1), str(big + 3)), (tree['value'][0], tree['min'][0], tree['max'][0]))

    def test_processes_and_runs(self):
        viewer = self.viewer(self.profile(), self.write('small.txt', SMALL))
        by_process = viewer.get('locations', by='process')
        self.assertEqual(('processes', [33, 177], ['0', '1']), (by_process['over'], by_process['places']['value'], by_process['places']['label']))
        runs = viewer.get('locations', d=1)  # at the largest point: main->sort 4 and 4.5, main->join 40 and 41
        self.assertEqual(('runs', [44, 45.5], 'p=2, n=20'), (runs['over'], runs['places']['value'], runs['run']))
        self.assertNotIn('grid', runs)
        runs = viewer.get('locations', d=1, run='p=1,n=10')
        self.assertEqual([11, 12.5], runs['places']['value'])

    def test_the_last_of_several_runs_counts_whatever_was_asked_before(self):
        viewer = self.viewer(self.write('small.txt', SMALL))  # main->sort 1 and 1.5, main->join 10 and 11 at its first point
        asked = (['1', '0'], ['1'], ['0', '1'], ['0'], ['', '1'])
        self.assertEqual([11, 12.5, 12.5, 11, 12.5], [viewer.get('locations', run=runs)['statistics']['sum'] for runs in asked])

    def test_minima_are_no_sums(self):
        answer = self.viewer(self.profile(2, 1, ((3.0, 5.0), (1.0, 7.0)), 'MINDOUBLE')).get('locations', context=0)
        self.assertFalse(answer['adds_up'])
        self.assertEqual([1, 5], answer['places']['value'])

    def test_outliers_and_histogram(self):
        values = [10.0] * 12 + [11.0] * 4 + [12.0, 12.0, 13.0, 40.0]
        answer = self.viewer(self.profile(20, 1, (values, [0.0] * 20))).get('locations')
        # q1 10, q3 11: beyond 8.5 and 12.5 lie two
        self.assertEqual({'low': 0, 'high': 2, 'place': [19, 18], 'label': ['19', '18'], 'value': [40, 13]}, answer['outliers'])
        h = answer['histogram']  # 16 bins from 10 to 40, each 1.875 wide: 10 and 11, 12 and 13, 40
        self.assertEqual((10, 40, [16, 3] + [0] * 13 + [1]), (h['min'], h['max'], h['count']))

    def test_as_stat_has_it(self):
        for path, metric in ((HEAT, 'time'), (HEAT, 'visits'), (DATABASE, 'CPUTIME (sec)'), (FILTER, 'time')):
            known = run('stat', path, '--json', '--metric', metric).json
            contexts = [c for c in known['contexts'] if metric in c['metrics']]
            ids = {row['path']: row['id'] for row in run('sql', path, 'select id, path from context', '--json').json}
            viewer = self.viewer(path)
            compared = 0
            for context in contexts:
                for kind, spread in context['metrics'][metric].items():
                    if context['path'] not in ids:
                        continue
                    answer = viewer.get('locations', metric=metric, context=ids[context['path']], kind=kind)
                    if answer['kind'] != kind or answer['path'] != context['path']:
                        continue
                    got = answer['statistics']
                    for word in ('sum', 'mean', 'min', 'max', 'stddev', 'q1', 'median', 'q3', 'imbalance', 'count'):
                        self.assertEqual(spread[word], got[word], (path, context['path'], kind, word))
                    compared += 1
            self.assertGreater(compared, 5, path)

    def test_every_example_has_an_answer_or_a_reason(self):
        for name in sorted(os.listdir(EXAMPLES)):
            path = os.path.join(EXAMPLES, name)
            if name == 'CMakeLists.txt' or not name.endswith(('.cubex', '.afperf', '.perf', '.txt')) and name not in ('heat-hpctoolkit', 'waves-extra-prof'):
                continue
            viewer = self.viewer(path)
            for which in ('locations', 'location_tree'):
                try:
                    self.assertIn('unit', viewer.get(which))
                except Refused as refused:
                    self.assertIn(refused.status, (400, 422), name)
                    self.assertTrue(refused.message, name)


class Places(Locations):
    def test_rows_are_processes_and_columns_threads(self):
        answer = self.viewer(self.profile()).get('locations')
        grid, places = answer['grid'], answer['places']
        self.assertEqual(('processes', 2, 2), (grid['layout'], grid['n_rows'], grid['n_columns']))
        self.assertEqual([0, 1], grid['rows']['number'])
        self.assertEqual([0, 1], grid['columns']['number'])
        self.assertEqual(([0, 0, 1, 1], [0, 1, 0, 1]), (places['row'], places['column']))
        self.assertEqual(['0.0', '0.1', '1.0', '1.1'], places['label'])

    def test_nodes_of_processes_with_one_thread_each(self):
        grid = self.viewer(HEAT).get('locations')['grid']
        self.assertEqual(('nodes', 2, 4, ['node1', 'node2']), (grid['layout'], grid['n_rows'], grid['n_columns'], grid['rows']['name']))

    def test_one_after_the_other(self):
        n = 200
        answer = self.viewer(self.profile(n, 1, ([float(i) for i in range(n)], [0.0] * n))).get('locations')
        grid, places = answer['grid'], answer['places']
        self.assertEqual('wrapped', grid['layout'])
        self.assertGreaterEqual(grid['n_rows'] * grid['n_columns'], n)
        self.assertEqual(list(range(n)), [r * grid['n_columns'] + c for r, c in zip(places['row'], places['column'])])
        self.assertEqual([r * grid['n_columns'] for r in range(grid['n_rows'])], grid['rows']['number'])

    def test_a_selection(self):
        viewer = self.viewer(self.profile())
        answer = viewer.get('locations', location='rank=1')
        self.assertEqual([0, 0, 1, 1], answer['places']['selected'])
        self.assertEqual([11, 22, 33, 144], answer['places']['value'])
        self.assertEqual((2, 177, 'rank=1'), (answer['selection']['n'], answer['selection']['statistics']['sum'], answer['selection']['label']))
        self.assertEqual((33, '1.0'), (answer['selection']['statistics']['min'], answer['selection']['statistics']['min_at']))
        refused = self.refused(viewer, 'locations', location='rank=7')
        self.assertEqual((400, True), (refused.status, 'rank=7' in refused.message))

    def test_many_places_come_in_cells(self):
        n, threads = 120, 100
        values = [float(p * threads + t) for p in range(n) for t in range(threads)]
        viewer = self.viewer(self.profile(n, threads, (values, [0.0] * len(values))))
        answer = viewer.get('locations', location='rank=0-59')
        cells, grid = answer['cells'], answer['grid']
        self.assertNotIn('places', answer)
        self.assertEqual((120, 100, 1, 1), (cells['rows'], cells['columns'], cells['row_step'], cells['column_step']))
        self.assertEqual(values, cells['mean'])
        self.assertEqual([1] * 6000 + [0] * 6000, cells['selected'])
        self.assertEqual((0, 11999), (answer['curve']['value'][0], answer['curve']['value'][-1]))
        self.assertEqual(answer['curve']['index'], answer['curve']['value'])
        self.assertEqual(1001, len(answer['curve']['index']))
        self.assertEqual(('processes', 119), (grid['layout'], grid['rows']['number'][-1]))

    def test_cells_of_several_places(self):
        n = 250
        values = [float(p) for p in range(n) for t in range(40)]
        answer = self.viewer(self.profile(n, 40, (values, [0.0] * len(values)))).get('locations')
        cells = answer['cells']
        self.assertEqual((125, 40, 2, 1), (cells['rows'], cells['columns'], cells['row_step'], cells['column_step']))
        self.assertEqual((0.5, 0, 1, 2), (cells['mean'][0], cells['min'][0], cells['max'][0], cells['n'][0]))
        self.assertEqual((248, 249), (answer['grid']['rows']['number'][-1], answer['grid']['rows']['last'][-1]))

    def test_values_that_are_no_numbers(self):
        answer = self.viewer(self.profile(2, 1, ((math.inf, 1.0), (0.0, 0.0)))).get('locations')
        self.assertEqual(['inf', 1], answer['places']['value'])
        self.assertIsNone(answer['histogram'])


class Tree(Locations):
    def test_sums_of_what_lies_below(self):
        tree = self.viewer(self.profile()).get('location_tree')
        rows = {name: i for i, name in enumerate(tree['name']) if name.startswith(('m', 'rank'))}
        self.assertEqual((210, 52.5, 11, 144), tuple(tree[c][rows['m']] for c in ('value', 'mean', 'min', 'max')))
        self.assertEqual((33, 2, 2), tuple(tree[c][rows['rank 0']] for c in ('value', 'places', 'n_children')))
        self.assertEqual(7, len(tree['id']))
        peers = dict(zip(tree['name'], tree['peers']))
        self.assertEqual((1, 33 / 177, 1), (peers['m'], peers['rank 0'], peers['rank 1']))  # of 33 and 177
        self.assertEqual([11 / 144, 22 / 144, 33 / 144, 1], [peer for name, peer in zip(tree['name'], tree['peers']) if name in ('t0', 't1')])

    def test_only_what_is_selected(self):
        tree = self.viewer(self.profile()).get('location_tree', location='rank=1,thread=0')
        self.assertEqual(['m', 'rank 1', 't0'], tree['name'])
        self.assertEqual([33, 33, 33], tree['value'])

    def test_children_when_they_are_asked_for(self):
        viewer = self.viewer(self.profile(300, 2, ([1.0] * 600, [0.0] * 600)))
        tree = viewer.get('location_tree')
        self.assertEqual(['m'], tree['name'])  # 300 more are too many for a first look
        below = viewer.get('location_tree', parent=tree['id'][0])
        self.assertEqual((300, 'rank 299'), (len(below['id']), below['name'][-1]))
        threads = viewer.get('location_tree', parent=below['id'][7])
        self.assertEqual((['t0', 't1'], [1, 1]), (threads['name'], threads['value']))
        self.assertEqual(['rank 299'], viewer.get('location_tree', parent=tree['id'][0], offset=299)['name'])

    def test_runs_have_none(self):
        self.assertEqual(422, self.refused(self.viewer(self.write('small.txt', SMALL)), 'location_tree').status)


class Refusals(Locations):
    def test_what_cannot_be_asked(self):
        viewer = self.viewer(self.profile())
        for params in ({'context': 2}, {'context': -1}, {'context': 'x'}, {'kind': 'both'}, {'metric': 'nothing'}, {'by': 'nothing'}, {'d': 1}, {'run': 'x'},
                       {'location': 'nobody'}):
            refused = self.refused(viewer, 'locations', **params)
            self.assertEqual(400, refused.status, params)
            self.assertTrue(refused.message, params)
        for params in ({'parent': 99}, {'offset': -1}, {'parent': 'x'}):
            self.assertEqual(400, self.refused(viewer, 'location_tree', **params).status, params)


if __name__ == '__main__':
    main()
