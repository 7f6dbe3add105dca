"""Derived metrics of a Cube file: values in the table node, what is said of expressions that cannot be used, and that they survive being written."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from common import Case, main, run
from cubex import anchor, index, metric, rows, system, tar, tree

TIME = [[8.0, 4.0], [2.0, 6.0], [1.0, 3.0]]  # exclusive: main, main->MPI_Send, main->work
VISITS = [[1, 1], [4, 2], [10, 0]]
MASK = ('{ global(mpi); ${i} = 0; while (${i} &lt; ${cube::#callpaths}) { if (${cube::region::name}[${cube::callpath::calleeid}[${i}]] =~ /^MPI_/) { ${mpi}[${i}] = 1; }; '
        '${i} = ${i} + 1; }; return 0; }')


def file_of(*derived):
    """(name, type, expression, more elements) each"""
    metrics = metric(0, 'time') + metric(1, 'visits', 'UINT64') + ''.join(
        metric(i + 2, name, kind=kind, inside=f'<cubepl>{text}</cubepl>{more}') for i, (name, kind, text, more) in enumerate(derived))
    return tar({'0.index': index(range(3)), '0.data': rows('DOUBLE', TIME), '1.index': index(range(3)), '1.data': rows('UINT64', VISITS),
                'anchor.xml': anchor(metrics, tree('main(MPI_Send work)'), system(2))})


GOOD = file_of(('each', 'POSTDERIVED', 'metric::time() / metric::visits()', ''),
               ('mpi', 'PREDERIVED_EXCLUSIVE', '${mpi}[${calculation::callpath::id}] * metric::time(e)', f'<cubeplinit>{MASK}</cubeplinit>'),
               ('rest', 'POSTDERIVED', 'metric::time() - metric::mpi()', ''),
               ('longest', 'PREDERIVED_EXCLUSIVE', 'metric::time()', '<cubeplaggr cubeplaggrtype="aggr">max(arg1, arg2)</cubeplaggr>'))
QUERY = 'select m.name, context, inclusive, exclusive from node join metric m on m.id = metric where m.id > 1 order by m.id, context'
EXPECTED = [['each', 0, 24 / 18, 6], ['each', 1, 8 / 6, 8 / 6], ['each', 2, 0.4, 0.4],
            ['mpi', 0, 8, 0], ['mpi', 1, 8, 8],
            ['rest', 0, 16, 12], ['rest', 2, 4, 4],
            ['longest', 0, 17, 8], ['longest', 1, 6, 6], ['longest', 2, 3, 3]]


class Derived(Case):
    def nodes(self, path):
        return [list(row.values()) for row in run('sql', '--json', path, QUERY).json]

    def check(self, path):
        got = self.nodes(path)
        self.assertEqual([row[:2] for row in got], [row[:2] for row in EXPECTED])
        for row, expected in zip(got, EXPECTED):
            self.assertAlmostEqual(row[2], expected[2], msg=row)
            self.assertAlmostEqual(row[3], expected[3], msg=row)

    def test_values(self):
        self.check(self.write('good.cubex', GOOD))

    def test_statistics_over_locations(self):
        """The formula at each location; what all have together is no sum."""
        path = self.write('good.cubex', GOOD)
        result = run('stat', '--json', path)
        self.assertFine(result)
        found = {(c['path'], name, kind): s for c in result.json['contexts'] for name, kinds in c['metrics'].items() for kind, s in kinds.items()}
        expected = {('main', 'each', 'inclusive'): (11 / 15, 13 / 3, 24 / 18), ('main', 'each', 'exclusive'): (4, 8, 6), ('main->MPI_Send', 'each', 'exclusive'): (2 / 4, 6 / 2, 8 / 6),
                    ('main', 'mpi', 'inclusive'): (2, 6, 8), ('main->MPI_Send', 'mpi', 'exclusive'): (2, 6, 8), ('main', 'rest', 'inclusive'): (9, 7, 16),
                    ('main', 'longest', 'inclusive'): (11, 13, 17), ('main', 'longest', 'exclusive'): (8, 4, 8)}
        for key, (a, b, whole) in expected.items():
            with self.subTest(key):
                s = found[key]
                for name, value in (('min', min(a, b)), ('max', max(a, b)), ('mean', (a + b) / 2), ('sum', whole)):
                    self.assertAlmostEqual(value, s[name], msg=name)
        for i in (0, 1):                                            # another way to the same numbers
            one = run('tree', '--json', path, '--location', f'0.{i}', '--metric', 'each', '--metric', 'mpi', '--metric', 'rest').json['root']
            for node in (one, *one['children']):
                for name, kinds in node['values'].items():
                    for kind, value in kinds.items():
                        values = run('stat', '--json', path, '--context', node['path'], '--metric', name).json['contexts']
                        self.assertAlmostEqual(value or 0, values[0]['metrics'][name][kind]['values'][i] if values else 0, msg=(node['path'], name, kind))

    def test_statistics_of_what_cannot_be_computed(self):
        path = self.write('a.cubex', file_of(('odd', 'POSTDERIVED', 'metric::time() +', '')))
        self.assertFails(run('stat', path, '--metric', 'odd'), 2, "'odd' could not be computed; assay validate says why")

    def test_written_again(self):
        path, copy = self.write('good.cubex', GOOD), self.path('copy.cubex')
        self.assertFine(run('convert', path, copy))
        self.check(copy)

    def test_what_cannot_be_used(self):
        path = self.write('bad.cubex', file_of(('broken', 'POSTDERIVED', 'metric::time() +', ''), ('fine', 'POSTDERIVED', 'metric::time() * 2', ''),
                                               ('unknown', 'PREDERIVED_INCLUSIVE', '1 + metric::nosuch()', '')))
        problems = run('info', '--json', path).json['problems']
        self.assertEqual([(p['severity'], p['rule']) for p in problems], [('warning', 'cubepl')] * 2)
        self.assertIn('derived metric broken has no values: it ends where a value is missing (column 17 of its expression "metric::time() +")', problems[0]['message'])
        self.assertIn('there is no metric of this name (column 5 of its expression "1 + metric::nosuch()")', problems[1]['message'])
        self.assertEqual([row[0] for row in self.nodes(path)], ['fine'] * 3)

    def test_endless(self):
        path = self.write('endless.cubex', file_of(('endless', 'POSTDERIVED', '{ while (1) { ${a} = 1; }; return 1; }', '')))
        self.assertEqual(self.nodes(path), [])


if __name__ == '__main__':
    main()
