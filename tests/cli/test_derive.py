"""--derive: metrics that users compute, on any format, in every verb that shows metrics."""
import os
import sqlite3
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from common import Case, main, run
from cubex import anchor, index, metric, rows, system, tar, tree

# Exclusive values of main, main->a, main->a->b, main->c->b, main->c at two threads; b has no visits below c, c has neither.
TIME = [[8.0, 4.0], [2.0, 6.0], [1.0, 3.0], [0.0, 0.0], [5.0, 1.0]]
VISITS = [[1, 1], [4, 2], [10, 0], [0, 0], [0, 0]]
FILE = tar({'0.index': index(range(5)), '0.data': rows('DOUBLE', TIME), '1.index': index(range(5)), '1.data': rows('UINT64', VISITS),
            'anchor.xml': anchor(metric(0, 'time') + metric(1, 'visits', 'UINT64'), tree('main(a(b) c(idle))'), system(2))})
# contexts in pre-order: main, a, b, c, idle; cnode ids follow
SUMS = {'main': ((30, 18), (12, 2)), 'main->a': ((12, 16), (8, 6)), 'main->a->b': ((4, 10), (4, 10))}

EXPERIMENT = '''PARAMETER n
POINTS 1 2
METRIC time
REGION main
DATA 2 4
DATA 10 10
REGION main->f
DATA 1 1
DATA 5 5
METRIC work
REGION main
DATA 6 6
DATA 40 60
'''


class Derive(Case):
    def values(self, result, name):
        """path -> (inclusive, exclusive) of a tree"""
        self.assertFine(result)
        found, todo = {}, [result.json['root']]
        while todo:
            node = todo.pop()
            todo += node['children']
            if name in node['values']:
                v = node['values'][name]
                found[node['path']] = (v.get('inclusive'), v.get('exclusive'))
        return found

    def cube(self):
        return self.write('small.cubex', FILE)

    def test_tree(self):
        found = self.values(run('tree', '--json', self.cube(), '--derive', 'each=time/visits'), 'each')
        for path, ((time, visits), (own, own_visits)) in SUMS.items():
            self.assertAlmostEqual(found[path][0], time / visits, msg=path)
            self.assertAlmostEqual(found[path][1], own / own_visits, msg=path)
        self.assertEqual(found.get('main->c', (None, None)), (None, None))
        self.assertEqual(found.get('main->c->idle', (None, None)), (None, None))

    def test_flat_is_computed_from_sums(self):
        found = self.values(run('tree', '--json', '--flat', self.cube(), '--derive', 'each=time/visits', '--derive', 'half=each/2'), 'half')
        self.assertAlmostEqual(found['main'][0], 30 / 18 / 2)
        self.assertAlmostEqual(found['a'][1], 8 / 6 / 2)

    def test_people_see_it_beside_the_time(self):
        result = run('tree', self.cube(), '--derive', 'each [s]=time/visits')
        self.assertFine(result)
        self.assertIn('each', result.out)
        self.assertIn('time', result.out)
        self.assertNotIn('nan', result.out)

    def test_whole_program(self):
        found = self.values(run('tree', '--json', self.cube(), '--derive', 'share=100*time/@time'), 'share')
        self.assertAlmostEqual(found['main'][0], 100)
        self.assertAlmostEqual(found['main->a'][1], 100 * 8 / 30)
        self.assertAlmostEqual(found['main->c'][0], 20)

    def test_missing_is_nothing(self):
        found = self.values(run('tree', '--json', self.cube(), '--derive', 'more=visits+1'), 'more')
        self.assertEqual(found['main'], (19, 3))
        self.assertEqual(found.get('main->c', (None, None)), (None, None))

    def test_sql(self):
        rows_ = run('sql', '--json', self.cube(), '--derive', 'each [s/visit]=time/visits',
                    "select m.unit, m.kind, m.description, n.context, n.inclusive, n.exclusive from node n join metric m on m.id = n.metric where m.name = 'each' order by context").json
        self.assertEqual([r['context'] for r in rows_], [0, 1, 2])
        self.assertEqual({(r['unit'], r['kind'], r['description']) for r in rows_}, {('s/visit', 'derived', 'time/visits')})
        self.assertAlmostEqual(rows_[0]['inclusive'], 30 / 18)
        self.assertAlmostEqual(rows_[0]['exclusive'], 6)

    def test_stat(self):
        result = run('stat', '--json', self.cube(), '--derive', 'each=time/visits')
        self.assertFine(result)
        found = {(c['path'], kind): s for c in result.json['contexts'] for kind, s in c['metrics'].get('each', {}).items()}
        s = found['main->a', 'exclusive']  # 2/4 and 6/2
        self.assertAlmostEqual(s['min'], 0.5)
        self.assertAlmostEqual(s['max'], 3)
        self.assertAlmostEqual(s['sum'], 8 / 6)
        s = found['main->a->b', 'exclusive']  # 1/10; at the other thread nothing was visited
        self.assertAlmostEqual(s['min'], 0.1)
        self.assertAlmostEqual(s['max'], 0.1)

    def test_diff(self):
        other = self.write('other.cubex', tar({'0.index': index(range(5)), '0.data': rows('DOUBLE', [[2 * x for x in r] for r in TIME]),
                                               '1.index': index(range(5)), '1.data': rows('UINT64', VISITS),
                                               'anchor.xml': anchor(metric(0, 'time') + metric(1, 'visits', 'UINT64'), tree('main(a(b) c(idle))'), system(2))}))
        result = run('diff', '--json', self.cube(), other, '--derive', 'each=$0/$1', '--metric', 'each')
        self.assertFine(result)
        self.assertIn('each', result.out)
        node = result.json['root']
        while node['name'] != 'main':
            node = node['children'][0]
        self.assertAlmostEqual(node['values']['each']['base']['inclusive'], 30 / 18)
        self.assertAlmostEqual(node['values']['each']['target']['inclusive'], 60 / 18)

    def test_experiment(self):
        """The formula of the means of a point's runs."""
        path = self.write('experiment.txt', EXPERIMENT)
        found = self.values(run('tree', '--json', path, '--derive', 'rate=work/time'), 'rate')
        self.assertEqual(found, {'main': (5, None), 'main->f': (0, None)})
        found = self.values(run('tree', '--json', path, '--run', 'n=1', '--derive', 'rate=work/time'), 'rate')
        self.assertEqual(found, {'main': (2, None), 'main->f': (0, None)})

    def test_info(self):
        result = run('info', '--json', self.cube(), '--derive', 'each=time/visits')
        self.assertFine(result)
        self.assertEqual([m['kind'] for m in result.json['metrics'] if m['name'] == 'each'], ['derived'])
        self.assertIn('derived: each', run('info', self.cube(), '--derive', 'each=time/visits').out)

    def test_database(self):
        out = self.path('out.sqlite')
        self.assertFine(run('convert', self.cube(), out, '--derive', 'each=time/visits'))
        with sqlite3.connect(out) as db:
            self.assertEqual(db.execute("select count(*) from node n join metric m on m.id = n.metric where m.name = 'each'").fetchone(), (3,))

    def test_other_formats_cannot_hold_it(self):
        result = run('convert', self.cube(), self.path('out.cubex'), '--derive', 'each=time/visits')
        self.assertEqual(result.status, 2)
        self.assertIn('--derive', result.err)
        self.assertFalse(os.path.exists(self.path('out.cubex')))

    def test_names(self):
        path = self.cube()
        for text in ('x=TIME', 'x=tim', "x='time'", 'x="time"', 'x=`Time`', 'x=$0', 'x = time ', "'a = b'=time", 'x [a/b]=time'):
            with self.subTest(text):
                self.assertFine(run('tree', path, '--derive', text))

    def test_refused(self):
        path = self.cube()
        for text, words in (('x=tme', "did you mean 'time'"), ('x=time/', 'column 8'), ('time=visits', 'already'), ('x', 'expression is missing'), ('=time', 'name is missing'),
                            ("'x=time", 'does not end'), ('x=$9', 'no metric with the id 9'), ('x=foo(time)', 'no function foo'), ('x=', 'no expression'),
                            ('x=#0', 'no order')):
            with self.subTest(text):
                result = run('tree', path, '--derive', text)
                self.assertFails(result, 2, words)

    def test_location(self):
        found = self.values(run('tree', '--json', self.cube(), '--location', '0.1', '--derive', 'each=time/visits'), 'each')
        self.assertAlmostEqual(found['main'][1], 4)


if __name__ == '__main__':
    main()
