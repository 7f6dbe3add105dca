"""assay stat: over locations, processes and runs; by hand, and against Python's own statistics."""
import csv
import io
import json
import math
import os
import random
import statistics
import tempfile
import unittest

import cubex
from common import SMALL, environment, run, run_on_terminal
from cubex import processes, profile

UTF8 = environment(LC_ALL='C.UTF-8')


class Stat(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix='assay-stat-')
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def file(self, content, name='p.cubex'):
        path = os.path.join(self.folder, name)
        with open(path, 'wb') as f:
            f.write(content if isinstance(content, bytes) else content.encode())
        return path

    def small(self):
        """main 1 2 3 4, main->a 0, main->b 10 0 0 10: exclusive integers at four processes."""
        return self.file(profile([('visits', 'UINT64', 'EXCLUSIVE', [[1, 2, 3, 4], [0] * 4, [10, 0, 0, 10]])], 'main(a b)', processes(4)))

    def answer(self, *args):
        result = run('stat', *args, env=UTF8)
        self.assertEqual(0, result.status, result)
        return result

    def test_json_by_hand(self):
        answer = self.answer('--json', self.small()).json
        self.assertEqual(4, answer['locations'])
        self.assertEqual(['main', 'main->b'], [c['path'] for c in answer['contexts']])
        main = answer['contexts'][0]
        self.assertEqual('0', main['source_id'])
        s = main['metrics']['visits']['inclusive']                  # 11 2 3 14
        self.assertEqual((30, 7.5, 2, 14), (s['sum'], s['mean'], s['min'], s['max']))
        self.assertEqual((2.75, 7, 11.75), (s['q1'], s['median'], s['q3']))
        self.assertAlmostEqual(math.sqrt((3.5 ** 2 + 5.5 ** 2 + 4.5 ** 2 + 6.5 ** 2) / 4), s['stddev'], places=12)
        self.assertAlmostEqual(14 / 7.5 - 1, s['imbalance'], places=12)
        labels = {p['id']: p['label'] for p in answer['places']}
        self.assertEqual(('1', '3'), (labels[s['min_at']], labels[s['max_at']]))
        self.assertEqual(1, answer['contexts'][1]['metrics']['visits']['exclusive']['imbalance'])

    def test_integers_are_exact(self):
        large = 2 ** 64 - 2000
        path = self.file(profile([('n', 'UINT64', 'EXCLUSIVE', [[large, large - 1, 0]])], 'main', processes(3)))
        out = self.answer('--json', path).out
        s = json.loads(out)['contexts'][0]['metrics']['n']['exclusive']
        self.assertEqual((2 * large - 1, 0, large), (s['sum'], s['min'], s['max']))
        self.assertIsInstance(s['sum'], int)
        rows = list(csv.DictReader(io.StringIO(self.answer('--csv', path).out)))
        self.assertEqual(str(2 * large - 1), rows[0]['sum'])

    def test_no_imbalance_without_a_mean(self):
        path = self.file(profile([('x', 'DOUBLE', 'EXCLUSIVE', [[-1.0, 1.0]])], 'main', processes(2)))
        s = self.answer('--json', path).json['contexts'][0]['metrics']['x']['exclusive']
        self.assertIsNone(s['imbalance'])
        self.assertEqual(1, s['stddev'])

    def test_against_python(self):
        """Many locations, several metrics, inclusive ones too."""
        rng = random.Random(5)
        n = 77
        time = [[rng.random() * 10 for _ in range(n)] for _ in range(3)]
        time[0] = [a + b + c for a, b, c in zip(*time)]             # inclusive, numbered main, a, b
        count = [[rng.randrange(1000) for _ in range(n)] for _ in range(3)]
        path = self.file(profile([('time', 'DOUBLE', 'INCLUSIVE', time), ('count', 'INT32', 'EXCLUSIVE', count)], 'main(a b)', processes(n)))
        contexts = self.answer('--json', path).json['contexts']
        exclusive = [[m - a - b for m, a, b in zip(*time)], time[1], time[2]]
        inclusive = [[sum(x) for x in zip(*count)], count[1], count[2]]
        for context, *expected in zip(contexts, time, exclusive, inclusive, count):
            found = [context['metrics'][m][k] for m in ('time', 'count') for k in ('inclusive', 'exclusive')]
            for values, s in zip(expected, found):
                self.assertAlmostEqual(math.fsum(values), s['sum'], places=9)
                self.assertAlmostEqual(statistics.fmean(values), s['mean'], places=9)
                self.assertAlmostEqual(statistics.pstdev(values), s['stddev'], places=9)
                for got, want in zip((s['q1'], s['median'], s['q3']), statistics.quantiles(values, n=4, method='inclusive')):
                    self.assertAlmostEqual(want, got, places=9)
                for got, want in zip((s['min'], s['max']), (min(values), max(values))):
                    self.assertAlmostEqual(want, got, places=12)

    def test_table(self):
        out = self.answer(self.small(), '--exclusive').out.split('\n')
        self.assertEqual('visits, exclusive, over 4 processes', out[0])
        self.assertEqual('call path  sum [s]  mean [s]  stddev  min  at  max  at  imbalance  excess  spread'.split(), out[1].split())
        b, main = out[2].split(), out[3].split()
        self.assertEqual(['main->b', '20.00', '5.00', '5.00', '0', '1', '10.00', '0', '100.0', '%', '20.00', '█', '█'], b)
        self.assertEqual(['main', '10.00'], main[:2])               # excess 4 * 4 - 10 = 6
        self.assertIn('60.0 %', out[3])
        inclusive = self.answer(self.small(), '--inclusive').out.split('\n')
        self.assertIn('inclusive', inclusive[0])
        self.assertEqual(['main', '30.00'], inclusive[2].split()[:2])

    def test_order_and_number_of_rows(self):
        path = self.file(profile([('t', 'DOUBLE', 'EXCLUSIVE', [[float(i % 7), float(i)] for i in range(1, 31)])], 'main(' + ' '.join(f'f{i:02}' for i in range(29)) + ')',
                                 processes(2)))

        def names(*args):
            lines = self.answer(path, *args).out.split('\n')[2:]
            return [line.split()[0] for line in lines if line and not line.startswith('…')]
        self.assertEqual(20, len(names()))
        self.assertIn('… 10 more call paths; --all shows them', self.answer(path).out)
        self.assertEqual(30, len(names('--all')))
        self.assertEqual(30, len(names('-n', '0')))
        self.assertEqual(['main->f28', 'main->f27'], names('--sort', 'max', '-n', '2'))
        self.assertEqual(['main', 'main->f00'], names('--sort', 'name', '-n', '2'))
        self.assertEqual(['main', 'main->f00'], names('--sort', 'tree', '-n', '2'))
        self.assertEqual(['main->f25', 'main->f28'], names('--sort', 'sum', '-n', '2'))       # 6 + 27, 2 + 30
        self.assertEqual(['main->f19'], names('--match', 'f19$'))

    def test_one_context(self):
        out = self.answer(self.small(), '--context', 'b').out
        self.assertIn('main->b', out)
        self.assertIn('max 10.00 s at 0', out)
        self.assertIn('most   0: 10.00   3: 10.00   1: 0   2: 0', out)
        self.assertIn('  0, 3\n', out)                              # who is in the last part of the histogram
        rows = list(csv.DictReader(io.StringIO(self.answer('--csv', '--exclusive', self.small(), '--context', 'b').out)))
        self.assertEqual([('0', '10'), ('1', '0'), ('2', '0'), ('3', '10')], [(r['place'], r['value']) for r in rows])
        found = self.answer('--json', self.small(), '--context', 'main').json['contexts']
        self.assertEqual([[11, 2, 3, 14]], [c['metrics']['visits']['inclusive']['values'] for c in found])
        self.assertIn('all values are 0', self.answer(self.small(), '--context', 'a').out)

    def test_threads_and_processes(self):
        path = self.file(profile([('t', 'DOUBLE', 'EXCLUSIVE', [[1.0, 2.0, 3.0, 10.0]])], 'main', processes(2, threads=2)))
        out = self.answer(path).out
        self.assertIn('over 4 locations of 2 processes', out)
        self.assertIn('1.1', out)                                   # thread 1 of process 1 has the most
        s = self.answer('--json', path, '--by', 'process').json
        self.assertEqual(2, s['locations'])
        self.assertEqual([3, 13], [s['contexts'][0]['metrics']['t']['exclusive'][k] for k in ('min', 'max')])
        self.assertIn('over 2 processes', self.answer(path, '--by', 'process').out)

    def test_runs_of_an_experiment(self):
        path = self.file(SMALL, 'e.txt')
        out = self.answer(path).out
        self.assertIn('time, over 2 runs (p=2, n=20)', out)
        answer = self.answer('--json', path, '--run', 'p=1,n=20').json
        self.assertEqual((0, 2), (answer['locations'], answer['runs']))
        s = {c['path']: c['metrics']['time'] for c in answer['contexts']}
        self.assertEqual((30, 31, 61, 30.5), tuple(s['main->join']['inclusive'][k] for k in ('min', 'max', 'sum', 'mean')))
        self.assertNotIn('exclusive', s['main->join'])              # the file knows no such thing
        result = run('stat', '--by', 'process', path)
        self.assertEqual(2, result.status)
        self.assertEqual(f'assay: {path}: has no locations to compare by process; --by run compares the runs of a point\n', result.err)

    def test_minima_and_values_of_several_parts(self):
        path = self.file(profile([('least', 'MINDOUBLE', 'EXCLUSIVE', [[3.0, 1.0]]), ('z', 'COMPLEX', 'EXCLUSIVE', [[(1.0, 2.0), (3.0, 4.0)]])], 'main', processes(2)))
        metrics = self.answer('--json', path).json['contexts'][0]['metrics']
        self.assertEqual((1, 2), (metrics['least']['exclusive']['sum'], metrics['least']['exclusive']['mean']))
        z = metrics['z']['exclusive']                                       # moduli; that of all together is |4 + 6i|
        for key, value in (('min', 5 ** 0.5), ('max', 5), ('mean', (5 + 5 ** 0.5) / 2), ('sum', 52 ** 0.5)):
            self.assertAlmostEqual(value, z[key])
        head, titles, row = self.answer(path, '--metric', 'z').out.splitlines()[:3]
        self.assertEqual('z, exclusive, over 2 processes', head)
        self.assertEqual(['call', 'path', 'whole', '[s]', 'mean', '[s]', 'stddev', 'min', 'at', 'max', 'at', 'imbalance', 'spread'], titles.split())
        self.assertEqual(['main', '7.211', '3.618', '1.382', '2.236', '0', '5.000', '1', '38.2', '%'], row.split()[:10])
        two = self.file(profile([('z', 'COMPLEX', 'EXCLUSIVE', [[(1.0, 2.0), (3.0, 4.0)]])], 'main', processes(1, 2)), 'two.cubex')
        result = run('stat', two, '--metric', 'z', '--by', 'process')
        self.assertEqual(2, result.status)
        self.assertIn("'z' is computed at each location", result.err)
        self.assertEqual('main', self.answer(path).out.split('\n')[2].split()[0])
        self.assertIn(' 2.000 ', self.answer(path).out.split('\n')[2])      # excess: (3 - 2) * 2

    def test_where_the_first_metric_has_no_order(self):
        parts = ('z', 'COMPLEX', 'EXCLUSIVE', [[(1.0, 2.0), (3.0, 4.0)]])
        path = self.file(profile([parts, ('t', 'DOUBLE', 'EXCLUSIVE', [[1.0, 2.0]])], 'main', processes(2)))
        self.assertEqual('t, exclusive, over 2 processes', self.answer(path).out.split('\n')[0])
        path = self.file(profile([parts], 'main', processes(1, 2)))
        self.assertEqual([], self.answer('--json', '--by', 'process', path).json['contexts'])
        result = run('stat', path, '--by', 'process')
        self.assertEqual((3, ''), (result.status, result.out))
        self.assertIn('has no metric whose values are numbers', result.err)

    def test_locations_that_alternate(self):
        """Threads of two processes by turns: places are counted wherever they lie."""
        places = '<systemtreenode Id="0"><name>m</name><class>machine</class>\n' + ''.join(
            f'<locationgroup Id="{p}"><name>rank {p}</name><rank>{p}</rank><type>process</type>\n' + ''.join(
                f'<location Id="{2 * t + p}"><name>t{t}</name><rank>{t}</rank><type>thread</type></location>\n' for t in range(2)) + '</locationgroup>\n' for p in range(2)) + '</systemtreenode>\n'
        path = self.file(profile([('t', 'DOUBLE', 'EXCLUSIVE', [[1.0, 2.0, 3.0, 6.0]])], 'main', places))
        head, _, row = self.answer(path).out.splitlines()[:3]
        self.assertEqual('t, exclusive, over 4 locations of 2 processes', head)
        self.assertEqual(['0.0', '1.1'], [row.split()[i] for i in (5, 7)])

    def test_all_zero(self):
        path = self.file(profile([('t', 'DOUBLE', 'EXCLUSIVE', [[0.0, 0.0]])], 'main', processes(2)))
        self.assertIn('all values are 0', self.answer(path).out)
        self.assertEqual([], self.answer('--json', path).json['contexts'])

    def test_several_files(self):
        one, two = self.small(), self.file(SMALL, 'e.txt')
        answer = self.answer('--json', one, two).json
        self.assertEqual(['visits', 'time'], [list(a['contexts'][0]['metrics'])[0] for a in answer])
        rows = list(csv.DictReader(io.StringIO(self.answer('--csv', one, two).out)))
        self.assertEqual({one, two}, {r['file'] for r in rows})
        result = run('stat', '--json', os.path.join(self.folder, 'none'), one)
        self.assertEqual(3, result.status)
        self.assertEqual(1, len(result.json))

    def test_terminal(self):
        path = self.file(profile([('t', 'DOUBLE', 'EXCLUSIVE', [[float(i), 2.0 * i, 3.0] for i in range(1, 4)])], 'main(a_function_of_some_length(another_function_that_is_longer))',
                                 processes(3)))
        for columns in (60, 80, 120):
            result = run_on_terminal('stat', path, columns=columns, env=environment(LC_ALL='C.UTF-8', TERM='dumb'))
            lines = result.out.replace('\r', '').split('\n')
            self.assertTrue(any('her_function_that_is_longer' in line for line in lines), result.out)
            for line in lines[1:5]:
                self.assertLessEqual(len(line), columns, line)
        ascii_only = run('stat', path, '-n', '1', env=environment(LC_ALL='C')).out
        self.assertTrue(ascii_only.isascii(), ascii_only)

    def test_deep_trees(self):
        """All paths of a tree this deep have 2 GB together."""
        depth, names = 20000, [f'function_{i}' for i in range(20000)]
        program = ''.join(cubex.region(i, n) for i, n in enumerate(names)) + ''.join(f'<cnode id="{i}" calleeId="{i}">' for i in range(depth)) + '</cnode>' * depth
        path = self.file(cubex.tar({'0.index': cubex.index(list(range(depth))), '0.data': cubex.rows('DOUBLE', [[2.0, 1.0]] * depth),
                                    'anchor.xml': cubex.anchor(cubex.metric(0, 'time'), program, cubex.system(2))}))
        contexts = json.loads(self.answer('--json', path).out)['contexts']
        self.assertEqual(depth, len(contexts))
        lengths = [len('->'.join(names[:i + 1])) for i in range(2000)]
        for i in range(2000):
            self.assertEqual('->'.join(names[:i + 1]) if lengths[i] <= 16384 else None, contexts[i]['path'])
        self.assertTrue(lengths[999] < 16384 < lengths[1999])
        self.assertEqual((None, '19999', 3), (contexts[-1]['path'], contexts[-1]['source_id'], contexts[-1]['metrics']['time']['inclusive']['sum']))
        rows = list(csv.DictReader(io.StringIO(self.answer('--csv', path).out)))
        self.assertEqual((2 * depth, 'function_0', ''), (len(rows), rows[0]['callpath'], rows[-1]['callpath']))
        text = self.answer('--all', '--sort', 'name', path).out
        self.assertLess(len(text), 500 * 20 * depth)
        self.assertRegex(text, r'\n…function_19500->')
        for name in ('function_19999', 'function_19998->function_19999', '_19999'):
            self.assertIn('function_19998->function_19999\n', self.answer('--context', name, path).out, name)
        self.assertIn('2 call paths', run('stat', '--context', 'tion_19998', path).err)
        self.assertIn("did you mean 'function_0'", run('stat', '--context', 'funktion_0', path).err)
        self.assertIn('_19998->function_19999 ', self.answer('--match', '_19999$', path).out)

    def test_wrong_use(self):
        path = self.small()
        for args, words in ((['--metric', 'visit', path], "did you mean 'visits'"), (['--context', 'nobody', path], 'there is no call path'), (['--context', 'mian', path], "did you mean 'main'?"),
                            (['--match', 'nobody', path], "no call path matches 'nobody'"), (['--match', '(', path], 'no regular expression'),
                            (['--json', '--sort', 'sum', path], 'order of the tree'), (['--all', '-n', '3', path], 'exclude each other'),
                            (['--inclusive', '--exclusive', path], 'exclude each other'), (['--sort', 'colour', path], 'colour'), ([], 'needs a file')):
            result = run('stat', *args)
            self.assertEqual((2, ''), (result.status, result.out), args)
            self.assertIn(words, result.err)
            self.assertEqual(1, result.err.count('\n'))

    def test_machine_modes_agree(self):
        path = self.small()
        lines = [json.loads(line) for line in self.answer('--jsonl', path).out.splitlines()]
        rows = list(csv.DictReader(io.StringIO(self.answer('--csv', path).out)))
        self.assertEqual([(r['callpath'], r['kind'], str(r['sum'])) for r in lines], [(r['callpath'], r['kind'], r['sum']) for r in rows])
        self.assertEqual(4, len(rows))
        self.assertIn('| main->b', self.answer('--md', path).out)


if __name__ == '__main__':
    unittest.main()
