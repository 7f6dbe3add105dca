"""Numbers at the edge of what their types hold, in sums, in the algebra and in files. Expected values are worked out by hand."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import cubex
from common import Case, main, run

NAN, INFINITE = float('nan'), float('inf')
LARGEST = 1.7976931348623157e308
COUNTER_LIMIT = 0xFFFFFFFFFFFFFBFF  # what is above it is a counter that ran below zero, and counts 0


def profile(dtype, values, kind='EXCLUSIVE', text='main(sort)', name='m', numbers=None):
    numbers = list(range(len(values))) if numbers is None else numbers
    return cubex.tar({'0.index': cubex.index(numbers), '0.data': cubex.rows(dtype, values),
                      'anchor.xml': cubex.anchor(cubex.metric(0, name, dtype, kind), cubex.tree(text), cubex.system(len(values[0])))})


class Edges(Case):
    def ask(self, name, statement):
        return [list(row.values()) for row in run('sql', '--json', self.path(name), statement).json]

    def sums(self, name, metric='m'):
        return self.ask(name, f"select c.name, n.inclusive from node n join context c on c.id = n.context join metric m on m.id = n.metric where m.name = '{metric}'")

    def values(self, name, metric='m'):
        return self.ask(name, f"select c.name, l.rank, v.value from value v join context c on c.id = v.context join location l on l.id = v.location "
                              f"join metric m on m.id = v.metric where m.name = '{metric}'")

    def operate(self, *args):
        result = run(*args, '-o', self.path('out.cubex'))
        self.assertEqual(0, result.status, result)
        return result.err

    def test_what_is_no_number_spoils_minima_in_any_order(self):
        for dtype in ('MINDOUBLE', 'MAXDOUBLE'):
            for row in ([NAN, 1.0], [1.0, NAN], [1.0, NAN, 2.0]):
                self.write('a.cubex', profile(dtype, [row]))
                self.assertIn(self.sums('a.cubex'), ([['main', 'nan']], [['main', None]]), (dtype, row))

    def test_minima_of_places_without_values(self):
        """Locations 2 and 3 are only in a file that has another metric: nothing of theirs may become the minimum, or maximum."""
        for dtype, row in (('MINDOUBLE', [3.0, 5.0]), ('MAXDOUBLE', [-3.0, -5.0])):
            self.write('a.cubex', profile(dtype, [row]))
            self.write('b.cubex', profile('DOUBLE', [[1.0] * 4], name='other'))
            for verb in ('merge', 'mean'):
                self.operate(verb, self.path('a.cubex'), self.path('b.cubex'))
                self.assertEqual([['main', row[0]]], self.sums('out.cubex'), (verb, dtype))
                self.assertEqual([['main', 4.0]], self.sums('out.cubex', 'other'), (verb, dtype))

    def test_merged_minima_where_one_file_has_no_row(self):
        """The columns of location 1 are the second file's, which has no row for sort; those of location 0 are the first one's."""
        self.write('a.cubex', profile('MINDOUBLE', [[3.0, 7.0], [5.0, 9.0]]))
        self.write('b.cubex', profile('MINDOUBLE', [[4.0]]))
        self.operate('merge', self.path('b.cubex'), self.path('a.cubex'))
        self.assertEqual([['main', 3.0], ['sort', 5.0]], self.sums('out.cubex'))
        self.operate('merge', self.path('a.cubex'), self.path('b.cubex'))
        self.assertEqual([['main', 4.0], ['sort', 9.0]], self.sums('out.cubex'))

    def test_mean_of_the_largest_numbers(self):
        self.write('a.cubex', profile('DOUBLE', [[LARGEST, 3.0], [-LARGEST, INFINITE]]))
        self.operate('mean', *[self.path('a.cubex')] * 4)
        self.assertEqual([['main', 0, LARGEST], ['main', 1, 3.0], ['sort', 0, -LARGEST], ['sort', 1, 'inf']],
                         [[n, r, v if v is not None else 'inf'] for n, r, v in self.values('out.cubex')])

    def test_sums_of_counters_stay_counters(self):
        """What is folded together beyond 64 bits ends at the largest number that is not read as a counter below zero."""
        self.write('a.cubex', profile('UINT64', [[COUNTER_LIMIT - 1], [3]]))
        err = self.operate('cut', '--prune', 'sort', self.path('a.cubex'))
        self.assertIn('1 value beyond what UINT64 can hold became the nearest limit', err)
        self.assertEqual([['main', 0, str(COUNTER_LIMIT)]], self.values('out.cubex'))
        self.assertEqual([['main', str(COUNTER_LIMIT)]], self.sums('out.cubex'))
        self.write('a.cubex', profile('UINT64', [[COUNTER_LIMIT - 3], [3]]))
        self.assertEqual('', self.operate('cut', '--prune', 'sort', self.path('a.cubex')))
        self.assertEqual([['main', str(COUNTER_LIMIT)]], self.sums('out.cubex'))

    def test_metrics_without_places(self):
        """No locations, so no values, beside a file that has some."""
        self.write('a.cubex', profile('MINDOUBLE', [[], []]))
        self.write('b.cubex', profile('DOUBLE', [[1.0, 2.0]], name='other'))
        for verb in ('merge', 'mean', 'diff'):
            self.operate(verb, *(['--all-metrics'] if verb == 'diff' else []), self.path('a.cubex'), self.path('b.cubex'))
            self.assertEqual([], self.sums('out.cubex'), verb)
            self.assertEqual([['main', 3.0]], self.sums('out.cubex', 'other'), verb)


if __name__ == '__main__':
    main()
