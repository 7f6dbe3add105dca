"""assay view: formulas of requests, which are metrics for as long as they are asked for; by hand, and against the command's --derive."""
import json
import os
import threading

from common import Case, main, run
from cubex import processes, profile
from viewer import Refused, Viewer

EXAMPLES = os.path.join(os.environ['ASSAY_SOURCE'], 'examples')
HEAT, HEAT_2 = (os.path.join(EXAMPLES, name) for name in ('heat.cubex', 'heat-2.cubex'))
DATABASE = os.path.join(EXAMPLES, 'heat-hpctoolkit')
FILTER = os.path.join(EXAMPLES, 'gpu', 'filter.sqlite')

# main (1) -> f (2), g (4): exclusive values of time; calls are twice as many
TREE = 'main(f,g)'
TIME, CALLS = ((1,), (2,), (4,)), ((2,), (4,), (8,))


class Derive(Case):
    def viewer(self, *paths):
        viewer = Viewer(*map(str, paths))
        self.addCleanup(viewer.end)
        return viewer

    def small(self, name='p.cubex', other='calls'):
        return self.write(name, profile([('time', 'UINT64', 'EXCLUSIVE', TIME), (other, 'UINT64', 'EXCLUSIVE', CALLS)], TREE, processes(1)))

    def refused(self, viewer, path, **params):
        with self.assertRaises(Refused) as caught:
            viewer.get(path, **params)
        return caught.exception

    @staticmethod
    def values(viewer, metric, derive, **params):
        answer = viewer.get('tree', metric=metric, derive=derive, node=-1, levels=9, **params)
        return dict(zip(answer['rows']['name'], answer['inclusive'][0])), dict(zip(answer['rows']['name'], answer['exclusive'][0]))

    @staticmethod
    def metrics(answer, d=0):
        return [(m['name'], m.get('derive')) for m in answer['inputs'][d]['metrics']]


class Values(Derive):
    def test_a_metric_while_it_is_asked_for(self):
        viewer = self.viewer(self.small())
        twice = 'twice [s]=time*2'
        self.assertEqual([('time', None), ('calls', None)], self.metrics(viewer.get('inputs')))
        answer = viewer.get('inputs', derive=twice)
        self.assertEqual([('time', None), ('calls', None), ('twice', twice)], self.metrics(answer))
        self.assertEqual([{'text': twice, 'error': None}], answer['derives'])
        self.assertEqual(({'main': 14, 'g': 8, 'f': 4}, {'main': 2, 'g': 8, 'f': 4}), self.values(viewer, 'twice', twice))
        self.assertEqual([('time', None), ('calls', None)], self.metrics(viewer.get('inputs')))
        self.assertIn("no metric 'twice'", self.refused(viewer, 'tree', metric='twice').message)

    def test_the_same_name_with_another_formula(self):
        """What was computed for one is not shown for the other, whoever asks in between; nor is the number of a metric another one's."""
        viewer = self.viewer(self.small())
        for _ in range(3):
            self.assertEqual(14, self.values(viewer, 'x', 'x=time*2')[0]['main'])
            self.assertEqual(21, self.values(viewer, 'x', 'x=time*3')[0]['main'])
            self.assertEqual(7, viewer.get('tree', metric='time')['metrics'][0]['whole'])
            both = ['a=time+calls', 'b=a/time']
            self.assertEqual(3, self.values(viewer, 'b', both)[0]['main'])
            self.assertEqual([21], viewer.get('tree', metrics='2', node=-1, derive=both)['inclusive'][0])
            self.assertEqual([0.5], viewer.get('tree', metrics='2', node=-1, derive='b=time/calls')['inclusive'][0])

    def test_locations_and_comparisons(self):
        viewer = self.viewer(HEAT, HEAT_2)
        for factor in 2, 3, 2:
            derive = f'x=time*{factor}'
            single = viewer.get('locations', metric='time')
            placed = viewer.get('locations', metric='x', derive=derive)
            self.assertAlmostEqual(factor * single['statistics']['max'], placed['statistics']['max'])
            compared = viewer.get('compare', metric='x', derive=derive)
            plain = viewer.get('compare', metric='time')
            self.assertAlmostEqual(factor * plain['b']['total'], compared['b']['total'])

    def test_sql(self):
        viewer = self.viewer(self.small())
        text = b"select n.inclusive from node n join metric m on m.id = n.metric join context c on c.id = n.context where m.name = 'x' and c.name = 'main'"
        self.assertEqual([[21]], viewer.post('sql', text, derive='x=time*3')['rows'])
        self.assertEqual([[35]], viewer.post('sql', text, derive='x=time*5')['rows'])
        self.assertEqual([], viewer.post('sql', text)['rows'])

    def test_as_the_command_has_it(self):
        cases = (HEAT, 'mean [s]=time/visits', 'mean'), (DATABASE, "share=100*'CPUTIME (sec)'/@'CPUTIME (sec)'", 'share')
        for path, derive, name in cases:
            viewer = self.viewer(path)
            viewer.get('tree')  # values were asked for before
            answer = viewer.get('tree', metric=name, derive=derive, limit=5000, levels=50, node=-1)
            rows = map(json.loads, run('tree', '--jsonl', path, '--metric', name, '--derive', derive).out.splitlines())
            theirs = sorted((row['name'] or '(unknown)', row['inclusive'] or 0) for row in rows if row['name'] != '<root>')
            ours = sorted((n, v or 0) for n, v in zip(answer['rows']['name'], answer['inclusive'][0]))
            self.assertEqual(len(theirs), len(ours))
            for mine, other in zip(ours, theirs):
                self.assertEqual(other[0], mine[0])
                self.assertAlmostEqual(other[1], mine[1], delta=1e-9 * max(1, abs(other[1])))

    def test_trees_of_gpu_activities(self):
        viewer = self.viewer(FILTER)
        name = next(m['name'] for m in viewer.get('inputs')['inputs'][0]['metrics'] if m['is_main'])
        plain = viewer.get('tree', by='api', metric=name, node=-1)['inclusive'][0]
        for factor in 2, 3:
            answer = viewer.get('tree', by='api', metric='x', derive=f"x='{name}'*{factor}", node=-1)
            self.assertEqual([v and v * factor for v in plain], answer['inclusive'][0])
        self.assertEqual(plain, viewer.get('tree', by='api', metric=name, node=-1)['inclusive'][0])

    def test_formulas_have_no_models(self):
        viewer = self.viewer(os.path.join(EXAMPLES, 'kernels.txt'))
        for path in 'scale', 'curve', 'models':
            with self.assertRaises(Refused) as caught:
                viewer.get(path, metric='twice', derive='twice=2*time', context=0)
            self.assertEqual(400, caught.exception.status, path)
            self.assertIn('no measurements', caught.exception.message)
        self.assertGreater(len(viewer.get('scale', metric='time', derive='twice=2*time')['rows']['context']), 5)

    def test_beside_those_of_the_command(self):
        viewer = self.viewer('--derive', 'half=time/2', self.small(), self.small('q.cubex', 'others'))
        answer = viewer.get('inputs', derive=['quarter=half/2', 'each=time/calls'])
        self.assertEqual(['time', 'calls', 'half', 'quarter', 'each'], [m[0] for m in self.metrics(answer)])
        self.assertEqual(['time', 'others', 'half', 'quarter'], [m[0] for m in self.metrics(answer, 1)])
        self.assertEqual([None, None], [d['error'] for d in answer['derives']])
        self.assertEqual(1.75, self.values(viewer, 'quarter', 'quarter=half/2')[0]['main'])
        self.assertEqual(['time', 'calls', 'half'], [m[0] for m in self.metrics(viewer.get('inputs'))])


class Bounds(Derive):
    def test_mistakes(self):
        viewer = self.viewer(self.small())
        answer = viewer.get('inputs', derive=['x=tme', 'time=calls', 'y=time/2', 'no expression'])
        errors = [d['error'] for d in answer['derives']]
        self.assertRegex(errors[0], "column 3: there is no metric 'tme'; did you mean 'time'")
        self.assertIn('there is a metric of that name', errors[1])
        self.assertIsNone(errors[2])
        self.assertIn('NAME=EXPRESSION', errors[3])
        self.assertEqual(['time', 'calls', 'y'], [m[0] for m in self.metrics(answer)])

    def test_mistakes_in_several_inputs(self):
        # p has time and calls, q time and others: each lacks another metric. What all say is said once.
        viewer = self.viewer(self.small(), self.small('q.cubex', 'others'))
        errors = [d['error'] for d in viewer.get('inputs', derive=['x=calls/others', 'y=tme'])['derives']]
        self.assertRegex(errors[0], r"^p\.cubex: .*there is no metric 'others'.*; q\.cubex: .*there is no metric 'calls'")
        self.assertRegex(errors[1], "^formula 'y=tme': column 3: there is no metric 'tme'")
        self.assertNotIn('.cubex', errors[1])

    def test_how_much_there_may_be(self):
        viewer = self.viewer(self.small())
        self.assertIn('more than 16', self.refused(viewer, 'inputs', derive=[f'm{i}=time' for i in range(17)]).message)
        self.assertIn('1000', self.refused(viewer, 'tree', derive='m=' + '+'.join(['time'] * 300)).message)
        self.assertEqual(18, len(self.metrics(viewer.get('inputs', derive=[f'm{i}=time*{i}' for i in range(16)]))))

    def test_many_formulas_one_after_the_other(self):
        """Memory is that of one of them, and values are those of the last."""
        viewer = self.viewer(HEAT)
        for i in range(200):
            viewer.get('tree', metric='x', derive=f'x=time*{i + 1}')
        whole = viewer.get('tree', metric='time')['inclusive'][0][0]
        self.assertAlmostEqual(whole * 7, viewer.get('tree', metric='x', derive='x=time*7')['inclusive'][0][0])

    def test_several_at_once(self):
        """Each gets what it asked for, also while statements read."""
        viewer = self.viewer(HEAT)
        whole = viewer.get('tree', metric='time')['inclusive'][0][0]
        wrong = []

        def ask(factor):
            for _ in range(12):
                value = viewer.get('tree', metric='x', derive=f'x=time*{factor}')['inclusive'][0][0]
                rows = viewer.post('sql', b"select count(*) from metric where name = 'x'", derive=f'x=time*{factor}')['rows']
                if abs(value - whole * factor) > 1e-9 * whole * factor or rows != [[1]]:
                    wrong.append((factor, value, rows))
        threads = [threading.Thread(target=ask, args=(k,)) for k in range(2, 6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual([], wrong)


if __name__ == '__main__':
    main()
