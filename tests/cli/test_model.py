"""assay model: models of data made by formulas, and every way to ask wrongly."""
import csv
import io
import json
import os
import sqlite3
import sys
import zipfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from common import Case, main, run, run_on_terminal

P = [1, 2, 4, 8, 16]


def text(regions, parameter='p', points=P, metric='time'):
    """An Extra-P text file; regions: {call path: a list for each point, or its only value}."""
    lines = [f'PARAMETER {parameter}', 'POINTS ' + ' '.join(map(str, points)), f'METRIC {metric}']
    for name, values in regions.items():
        lines.append(f'REGION {name}')
        lines += ['DATA ' + ' '.join(map(str, v if isinstance(v, (list, tuple)) else [v])) for v in values]
    return '\n'.join(lines) + '\n'


def records(rows):
    """JSON Lines of (params, callpath, metric, value)."""
    return ''.join(json.dumps(dict(params=a, callpath=c, metric=m, value=v)) + '\n' for a, c, m, v in rows)


# By hand: 2 + 3p, 7, p^2, 10 - log2(p)
GROWING = text({'main->linear': [2 + 3 * p for p in P], 'main->flat': [7] * 5, 'main->square': [p * p for p in P], 'main->falls': [10, 9, 8, 7, 6]})


class Models(Case):
    def models(self, *args):
        r = run('model', '--json', *args)
        self.assertEqual(0, r.status, r)
        return {(m['callpath'], m['metric']): m for m in r.json['models']}

    def one(self, *args):
        found = self.models(*args)
        self.assertEqual(1, len(found))
        return next(iter(found.values()))

    def assertTerm(self, model, constant, coefficient, exponent, log_exponent, parameter='p'):
        self.assertAlmostEqual(constant, model['constant'], 6, model)
        self.assertEqual(1, len(model['terms']), model)
        self.assertAlmostEqual(coefficient, model['terms'][0]['coefficient'], 6, model)
        self.assertEqual([{'parameter': parameter, 'exponent': exponent, 'log_exponent': log_exponent}], model['terms'][0]['factors'])

    def test_formulas_are_found(self):
        found = self.models(self.write('a.txt', GROWING))
        self.assertEqual(4, len(found))
        linear = found['main->linear', 'time']
        self.assertTerm(linear, 2, 3, '1', '0')
        self.assertEqual(('p', 'linear', 5, []), (linear['growth'], linear['order'], linear['points'], linear['flags']))
        self.assertEqual(('basic', 'mean'), (linear['modeler'], linear['measure']))
        self.assertLess(linear['SMAPE'], 1e-10)
        self.assertIsNone(linear['noise'])  # one repetition says nothing
        flat = found['main->flat', 'time']
        self.assertEqual(('7.0', 7, [], '1', 'constant', 0, 1), tuple(flat[k] for k in ('function', 'constant', 'terms', 'growth', 'order', 'RSS', 'AR2')))
        self.assertTerm(found['main->square', 'time'], 0, 1, '2', '0')
        self.assertTerm(found['main->falls', 'time'], 10, -1, '0', '1')
        self.assertEqual(('decreasing', 'log p'), (found['main->falls', 'time']['order'], found['main->falls', 'time']['growth']))

    def test_measures(self):
        """The mean of (6 - p, 6, 6 + 4p) is 6 + p, the median 6, the minimum 6 - p, the maximum 6 + 4p."""
        f = self.write('a.txt', text({'r': [[6 - p, 6, 6 + 4 * p] for p in P]}))
        self.assertTerm(self.one(f), 6, 1, '1', '0')
        self.assertEqual('6.0', self.one(f, '--measure', 'median')['function'])
        self.assertTerm(self.one(f, '--measure', 'minimum'), 6, -1, '1', '0')
        self.assertTerm(self.one(f, '--measure', 'maximum'), 6, 4, '1', '0')
        self.assertEqual('maximum', self.one(f, '--measure', 'maximum')['measure'])

    def test_several_parameters(self):
        points = [(p, n) for p in P for n in P]
        f = self.write('a.txt', text({'r': [5 + 2 * p * n for p, n in points]}, 'p n', ['(%d %d)' % x for x in points]))
        m = self.one(f)
        self.assertEqual('multi-parameter', m['modeler'])
        self.assertAlmostEqual(5, m['constant'], 6)
        self.assertAlmostEqual(2, m['terms'][0]['coefficient'], 6)
        self.assertEqual([('p', '1', '0'), ('n', '1', '0')], [tuple(x.values()) for x in m['terms'][0]['factors']])
        self.assertEqual(('p n', 'quadratic'), (m['growth'], m['order']))
        self.assertEqual('p^(1)', self.one(f, '-O', 'single.poly_exponents=1', '-O', 'single_parameter_modeler=basic')['function'].split(' * ')[1])

    def test_segments(self):
        points = list(range(1, 21))
        f = self.write('a.txt', text({'r': [p if p <= 10 else 30 * p * p for p in points]}, points=points))
        m = self.one(f, '--modeler', 'segmented')
        self.assertNotIn('constant', m)
        self.assertNotIn('terms', m)
        left, right = m['segments']
        self.assertEqual(('-inf', 'inf'), (left['from'], right['to']))
        self.assertLessEqual(left['to'], right['from'])
        self.assertTerm(left, 0, 1, '1', '0')
        self.assertEqual('segmented', m['modeler'])

    def test_options_reach_the_method(self):
        f = self.write('a.txt', text({'r': [3 + p * p for p in P]}))
        self.assertTerm(self.one(f), 3, 1, '2', '0')
        exponent = self.one(f, '-O', 'poly_exponents=1')['terms'][0]['factors'][0]['exponent']
        self.assertEqual('1', exponent)

    def test_several_files_are_one_experiment(self):
        a = self.write('a.txt', text({'r': [5, 8]}, points=[1, 2]))
        b = self.write('b.txt', text({'r': [14, 26, 50]}, points=[4, 8, 16]))
        self.assertTerm(self.one(a, b), 2, 3, '1', '0')
        c = self.write('c.txt', text({'r': [1, 2]}, 'q', [1, 2]))
        self.assertFails(run('model', a, c), 2, 'same parameters')

    def test_stored_models_are_made_anew(self):
        f = self.write('a.txt', GROWING)
        self.assertFine(run('model', f, '-o', self.path('b.extra-p')))
        self.assertFine(run('model', self.path('b.extra-p'), '-O', 'poly_exponents=3', '-o', self.path('c.extra-p')))
        sets = run('sql', '--json', self.path('c.extra-p'), 'select distinct "set" as s from model').json
        self.assertEqual([{'s': 'New model'}], sets)
        functions = run('sql', '--json', self.path('c.extra-p'), "select function from model where function like '%p^%'").json
        self.assertTrue(functions and all('p^(3)' in x['function'] for x in functions), functions)


class Doubts(Case):
    def flags(self, *args):
        r = run('model', '--json', *args)
        self.assertEqual(0, r.status, r)
        return {m['callpath']: m for m in r.json['models']}, r.err

    def test_ragged_data(self):
        """A call path is modelled from the points it has, and says which it lacks; the others are unharmed."""
        rows = [({'p': p}, 'whole', 'time', 2 + 3 * p) for p in P + [32]]
        rows += [({'p': p}, 'ragged', 'time', p * p) for p in P]
        rows += [({'p': p}, 'poor', 'time', p) for p in P[:2]]
        found, err = self.flags(self.write('a.jsonl', records(rows)))
        self.assertEqual('2', found['ragged']['terms'][0]['factors'][0]['exponent'])
        self.assertEqual((5, ['(32)'], ['missing-points']), tuple(found['ragged'][k] for k in ('points', 'missing', 'flags')))
        self.assertEqual(['(4)', '(8)', '(16)', '(32)'], found['poor']['missing'])
        self.assertIn('few-points', found['poor']['flags'])
        self.assertNotIn('missing', found['whole'])
        self.assertEqual('1', found['whole']['terms'][0]['factors'][0]['exponent'])
        self.assertIn('2 models lack points', err)
        self.assertIn('ragged, poor', err)

    def test_few_points(self):
        found, err = self.flags(self.write('a.txt', text({'r': [1, 2, 3]}, points=[1, 2, 4])))
        self.assertIn('few-points', found['r']['flags'])
        self.assertIn('fewer than 5 points', err)

    def test_values_that_are_none(self):
        found, err = self.flags(self.write('a.txt', text({'bad': ['nan', 8, 14, 26, 'inf'], 'good': [2 + 3 * p for p in P]})))
        self.assertIn('not-finite', found['bad']['flags'])
        self.assertEqual(3, found['bad']['points'])
        self.assertEqual([], found['good']['flags'])
        self.assertIn('NaN or infinite', err)

    def test_zeros_and_negatives(self):
        found, _ = self.flags(self.write('a.txt', text({'zero': [0] * 5, 'mixed': [0, -1, -2, -3, -4], 'lin': [-p for p in P]})))
        self.assertEqual('0.0', found['zero']['function'])
        self.assertAlmostEqual(-1, found['mixed']['terms'][0]['coefficient'])
        self.assertGreaterEqual(found['lin']['RE'], 0)

    def test_parameters_below_one(self):
        found, err = self.flags(self.write('a.txt', text({'r': [1, 2, 3, 4, 5]}, points=[0.5, 1, 2, 4, 8])))
        self.assertIn('no-logarithms', found['r']['flags'])
        self.assertEqual({'0'}, {x['log_exponent'] for t in found['r']['terms'] for x in t['factors']})
        self.assertIn('without logarithms', err)

    def test_noise(self):
        """Repetitions 8 and 12 around 10: standard deviation (n - 1) 2.83, so 28 %."""
        found, err = self.flags(self.write('a.txt', text({'noisy': [[8, 12]] * 5, 'calm': [[10, 10]] * 5})))
        self.assertAlmostEqual(0.2828427, found['noisy']['noise'], 5)
        self.assertEqual((['noisy'], 0), (found['noisy']['flags'], found['calm']['noise']))
        self.assertIn('1 model is noisy', err)

    def test_ties_name_the_other(self):
        """Only p and p^2 are tried, and p at two neighbouring points can hardly be told from p^2."""
        points = [1000, 1001, 1002, 1003, 1004]
        f = self.write('a.txt', text({'r': [5, 7, 6, 8, 9]}, points=points))
        found, _ = self.flags(f, '-O', 'poly_exponents=1,2')
        m = found['r']
        self.assertEqual(['tie'], m['flags'])
        self.assertEqual({'p^(1)', 'p^(2)'}, {m['tie']['terms'], 'p^(%s)' % m['terms'][0]['factors'][0]['exponent']})
        self.assertAlmostEqual(m['SMAPE'], m['tie']['SMAPE'], delta=m['SMAPE'] * 0.01)

    def test_quiet(self):
        r = run('model', '-q', self.write('a.txt', text({'r': [1, 2, 3]}, points=[1, 2, 4])))
        self.assertEqual((0, ''), (r.status, r.err))

    def test_one_point_and_equal_points(self):
        found, _ = self.flags(self.write('a.txt', text({'r': [4]}, points=[3])))
        self.assertEqual('4.0', found['r']['function'])
        found, _ = self.flags(self.write('b.txt', text({'r': [4, 6, 8]}, points=[3, 3, 3])))
        self.assertEqual('6.0', found['r']['function'])


class Choosing(Case):
    def names(self, *args):
        r = run('model', '--csv', *args)
        self.assertEqual(0, r.status, r)
        return [row['callpath'] for row in csv.DictReader(io.StringIO(r.out))]

    def test_order(self):
        f = self.write('a.txt', GROWING)
        self.assertEqual(['main->linear', 'main->flat', 'main->square', 'main->falls'], self.names(f))
        self.assertEqual(['main->square', 'main->linear', 'main->flat', 'main->falls'], self.names(f, '--sort', 'growth'))
        self.assertEqual(['main->falls', 'main->flat', 'main->linear', 'main->square'], self.names(f, '--sort', 'name'))
        # at 16: 256, 50, 7, 6; at 1: falls 10, flat 7, linear 5, square 1
        self.assertEqual(['main->square', 'main->linear', 'main->flat', 'main->falls'], self.names(f, '--sort', 'value'))
        self.assertEqual(['main->falls', 'main->flat', 'main->linear', 'main->square'], self.names(f, '--sort', 'value', '--at', 'p=1'))
        self.assertEqual(['main->square'], self.names(f, '--sort', 'growth', '-n', '1'))
        self.assertEqual(4, len(self.names(f, '-n', '0')))

    def test_order_by_error(self):
        f = self.write('a.txt', text({'good': [2 + 3 * p for p in P], 'bad': [5, 1, 9, 2, 8]}))
        self.assertEqual(['bad', 'good'], self.names(f, '--sort', 'error'))

    def test_values_at_a_point(self):
        f = self.write('a.txt', GROWING)
        r = run('model', '--json', f, '--at', 'p=100')
        self.assertIn('outside what was measured, by a factor of 6.', r.err)
        values = {m['callpath']: m['value'] for m in r.json['models']}
        self.assertAlmostEqual(302, values['main->linear'], 6)
        self.assertEqual({'p': 100}, r.json['at'])
        self.assertTrue(all('extrapolated' in m['flags'] for m in r.json['models']))
        inside = run('model', '--json', f, '--at', 'p=5')
        self.assertEqual('', inside.err)
        self.assertFalse(any('extrapolated' in m['flags'] for m in inside.json['models']))

    def test_metrics(self):
        f = self.write('a.txt', text({'r': P}) + 'METRIC bytes\nREGION r\n' + 'DATA 1\n' * 5)
        self.assertEqual(['r', 'r'], self.names(f))
        self.assertEqual(['r'], self.names(f, '--metric', 'bytes'))
        self.assertEqual(['r', 'r'], self.names(f, '--metric', 'bytes', '--metric', 'time'))
        self.assertFails(run('model', f, '--metric', 'tme'), 2, "no metric 'tme'", "did you mean 'time'")

    def test_call_paths(self):
        f = self.write('a.txt', GROWING)
        self.assertEqual(['main->flat', 'main->falls'], self.names(f, '--match', '->f'))
        self.assertEqual(['main->flat'], self.names(f, '--match', 'flat$|nothing'))
        self.assertFails(run('model', f, '--match', 'nothing'), 2, "no call path matches 'nothing'")
        self.assertFails(run('model', f, '--match', '('), 2, 'no regular expression')

    def test_share(self):
        """The largest total is at 16: 50 + 7 + 256 + 6 = 319; linear has 15.7 %, square 80 %."""
        f = self.write('a.txt', GROWING)
        self.assertEqual(['main->linear', 'main->square'], self.names(f, '--min-share', '15'))
        self.assertEqual(['main->square'], self.names(f, '--min-share', '16%'))
        self.assertFails(run('model', f, '--min-share', '99'), 2, 'no call path makes up 99')
        # main includes the others: it is the whole
        f = self.write('b.txt', text({'main': [10 * p for p in P], 'main->f': [6 * p for p in P], 'main->g': [4 * p for p in P]}))
        self.assertEqual(['main', 'main->f'], self.names(f, '--min-share', '50'))
        self.assertEqual(['main'], self.names(f, '--min-share', '100'))
        self.assertFails(run('model', f, '--min-share', 'much'), 2, 'percentage')


class StrongScaling(Case):
    def test_hint_and_conversion(self):
        """The time of 1600 seconds of work on p processes is 1600 / p; the work is constant."""
        f = self.write('a.txt', text({'main': [1600 / p for p in P], 'main->f': [16 / p for p in P]}))
        r = run('model', '--json', f)
        self.assertIn('decreases along p: looks like strong scaling', r.err)
        r = run('model', '--json', f, '--scaling', 'strong')
        self.assertFine(r)
        self.assertEqual(['1600.0', '16.0'], [m['function'] for m in r.json['models']])
        self.assertFine(run('model', f, '--scaling', 'strong', '-o', self.path('b.extra-p')))
        with zipfile.ZipFile(self.path('b.extra-p')) as z:
            e = json.loads(z.read('experiment.json'))
        self.assertEqual('strong', e['scaling'])
        self.assertEqual([1600.0] * 5, [m['mean'] for m in e['measurements']['main']['time']])
        again = run('model', '--json', self.path('b.extra-p'), '--scaling', 'strong')
        self.assertIn('already', again.err)
        self.assertEqual('1600.0', again.json['models'][0]['function'])

    def test_which_parameter(self):
        points = [(n, p) for n in P for p in P]
        f = self.write('a.txt', text({'main': [n / p for n, p in points]}, 'n p', ['(%d %d)' % x for x in points]))
        for args in ([], ['--processes', 'p']):
            m = run('model', '--json', '-q', f, '--scaling', 'strong', *args).json['models'][0]
            self.assertEqual(('n', 'linear'), (m['growth'], m['order']), args)
        self.assertFails(run('model', f, '--scaling', 'strong', '--processes', 'q'), 2, "no parameter 'q'")

    def test_places(self):
        """Two repetitions of three ranks: strong adds the ranks up, weak_threaded leaves idle ones out."""
        f = self.write('a.jsonl', records([({'p': p}, 'r', 'time', [[p, 0, p], [2 * p, 0, 0]]) for p in P]))
        term = lambda *args: run('model', '--json', '-q', f, *args).json['models'][0]['terms'][0]['coefficient']
        self.assertAlmostEqual(2 / 3, term())
        self.assertAlmostEqual(2 / 3, term('--scaling', 'weak'))
        self.assertAlmostEqual(4 / 3, term('--scaling', 'weak_threaded'))
        self.assertAlmostEqual(2, term('--scaling', 'strong'))


class Shapes(Case):
    def test_table(self):
        r = run('model', self.write('a.txt', GROWING))
        self.assertFine(r)
        lines = r.out.splitlines()
        self.assertEqual('4 models along p (basic, mean of 5 points): 1 constant, 1 worse than linear', lines[0])
        self.assertEqual(['call path', 'growth', 'adj. R2', 'SMAPE %', 'function'], [x.strip() for x in lines[1].split('  ') if x.strip()])
        self.assertEqual(['main->square', 'main->linear', 'main->flat', 'main->falls'], [x.split()[0] for x in lines[2:]])
        self.assertTrue(lines[2].endswith('p^2') and 'O(p^2)' in lines[2], lines[2])
        self.assertTrue(lines[3].endswith('2 + 3 * p') and 'O(p)' in lines[3], lines[3])
        self.assertIn('falls, O(log p)', lines[5])

    def test_terminal(self):
        """It fits the terminal, in width and in height."""
        regions = {f'main->a_function_with_a_rather_long_name->kernel{i}': [0.123456 + 1.23456 * p for p in P] for i in range(100)}
        f = self.write('a.txt', text(regions))
        shown = run_on_terminal('model', f, '--color', 'never', columns=60).out.splitlines()
        self.assertLessEqual(max(map(len, shown[1:])), 60)  # the first is a sentence
        self.assertLessEqual(len(shown), 24)
        self.assertTrue(any('kernel0 ' in line and line.startswith('…') for line in shown), shown)
        self.assertTrue(any('0.1235 + 1.235 * p' in line for line in shown), shown)
        self.assertTrue(any('more; -n 0 shows all' in line for line in shown), shown)
        self.assertGreater(len(run_on_terminal('model', f, '-n', '0', columns=200).out.splitlines()), 100)

    def test_flat_tables(self):
        f = self.write('a.txt', GROWING)
        rows = list(csv.DictReader(io.StringIO(run('model', '--csv', f).out)))
        self.assertEqual(('time', 'main->linear', 'basic', 'mean', 'p', 'linear', '5', '0'),
                         tuple(rows[0][k] for k in ('metric', 'callpath', 'modeler', 'measure', 'growth', 'order', 'points', 'missing')))
        lines = [json.loads(line) for line in run('model', '--jsonl', f).out.splitlines()]
        self.assertEqual([r['callpath'] for r in rows], [x['callpath'] for x in lines])
        self.assertEqual(7, lines[1]['constant'])
        self.assertIn('| main->square', run('model', '--md', f).out.splitlines()[2])

    def test_why(self):
        f = self.write('a.txt', GROWING)
        tried = run('model', '--json', '--why', 'linear', f).json
        self.assertEqual(('main->linear', 'time', 'basic'), (tried['callpath'], tried['metric'], tried['modeler']))
        hypotheses = tried['hypotheses']
        self.assertEqual(43, len(hypotheses))  # the constant and the 42 terms of Extra-P
        self.assertEqual('chosen', hypotheses[0]['verdict'])
        self.assertIn('p^(1)', hypotheses[0]['function'])
        self.assertEqual(['chosen'], [h['verdict'] for h in hypotheses if h['verdict'] == 'chosen'])
        errors = [h['SMAPE'] for h in hypotheses[1:] if h['SMAPE'] != 'nan']
        self.assertEqual(sorted(errors), errors)
        self.assertEqual(set(range(43)), {h['order'] for h in hypotheses})
        self.assertFine(run('model', '--why', 'main->linear', f))
        self.assertFine(run('model', '--why', 'main->linear', f, '--json', '-o', self.path('why.json')))
        self.assertEqual(tried, json.loads(self.read('why.json')))
        self.assertFails(run('model', '--why', 'liner', f), 2, 'no call path')
        self.assertFails(run('model', '--why', 'main->liner', f), 2, "did you mean 'main->linear'")

    def test_why_of_an_ambiguous_end(self):
        f = self.write('a.txt', text({'a->f': P, 'b->f': P}))
        self.assertFails(run('model', '--why', 'f', f), 2, '2 call paths end in')

    def test_extrap_print(self):
        f = self.write('a.txt', GROWING)
        r = run('model', f, '--print', '{callpath}|{metric}|{model}')
        self.assertFine(r)
        self.assertEqual('main->linear|time|', r.out.splitlines()[0][:18])
        self.assertEqual('main->flat|time|7.0', r.out.splitlines()[1])
        self.assertEqual(4, len(run('model', f, '--print', 'functions').out.strip().splitlines()))
        self.assertFails(run('model', f, '--print', '{nothing}'), 2)


class Files(Case):
    def test_measurements_and_models(self):
        f = self.write('a.txt', GROWING)
        r = run('model', f, '-o', self.path('b.extra-p'), '--name', 'mine')
        self.assertFine(r)
        self.assertEqual('', r.out)
        with zipfile.ZipFile(self.path('b.extra-p')) as z:
            e = json.loads(z.read('experiment.json'))
        self.assertEqual(['mine'], [m['name'] for m in e['modelers']])
        self.assertEqual({'main->linear', 'main->flat', 'main->square', 'main->falls'}, set(e['modelers'][0]['models']))
        self.assertFine(run('model', f, '-o', self.path('b.sqlite')))
        db = sqlite3.connect(self.path('b.sqlite'))
        self.addCleanup(db.close)
        self.assertEqual(4, db.execute('select count(*) from model').fetchone()[0])
        self.assertEqual(20, db.execute('select count(*) from value').fetchone()[0])

    def test_answers(self):
        f = self.write('a.txt', GROWING)
        for name, begins in (('m.json', b'{'), ('m.csv', b'metric,callpath'), ('m.md', b'| metric'), ('m.txt', b'4 models'), ('m.jsonl', b'{"metric":')):
            r = run('model', f, '-o', self.path(name))
            self.assertFine(r)
            self.assertEqual('', r.out)
            self.assertTrue(self.read(name).startswith(begins), (name, self.read(name)[:60]))
        self.assertFine(run('model', f, '--json', '-o', self.path('other')))
        self.assertTrue(self.read('other').startswith(b'{'))
        r = run('model', f, '--json', '-o', self.path('b.extra-p'))  # both
        self.assertEqual(4, len(r.json['models']))
        self.assertTrue(self.read('b.extra-p').startswith(b'PK'))

    def test_only_chosen_models_are_written(self):
        f = self.write('a.txt', GROWING)
        self.assertFine(run('model', f, '--match', 'square', '-o', self.path('b.extra-p')))
        self.assertEqual(1, run('info', '--json', self.path('b.extra-p')).json['models'])
        self.assertEqual(20, run('info', '--json', self.path('b.extra-p')).json['values'])

    def test_what_cannot_be_written(self):
        f = self.write('a.txt', GROWING)
        self.assertFails(run('model', f, '-o', self.path('b.dat')), 2, 'ending')
        self.assertFails(run('model', f, '-o', self.path('b.svg')), 2, '--plot')
        self.assertFails(run('model', f, '-o', f), 3, 'is an input')
        self.assertFails(run('model', f, '-o', self.path('nowhere/b.extra-p')), 3, 'nowhere')
        self.assertFails(run('model', f, '-o', self.folder), 3, 'is a directory')
        self.assertEqual(['a.txt'], self.files())


class Usage(Case):
    def test_mistakes(self):
        f = self.write('a.txt', GROWING)
        for args, words in (
                (['--modeler', 'multi-parameter'], 'needs several parameters'),
                (['--modeler', 'neural'], 'neural'),
                (['--measure', 'avg'], 'avg'),
                (['-O', 'allow_log_term=no'], "did you mean 'allow_log_terms'"),
                (['-O', 'allow_log_terms=maybe'], 'yes or no'),
                (['-O', 'poly_exponents=x,y'], 'comma list'),
                (['-O', 'minimum_term_contribution=-1'], 'from 0 on'),
                (['-O', 'single.allow_log_terms=no'], 'allow_log_terms'),
                (['-O', 'nonsense=1'], "no option 'nonsense'"),
                (['--at', 'q=3'], 'q'),
                (['--at', 'p=1..8'], 'one point'),
                (['--at', 'p=inf'], 'p'),
                (['--sort', 'size'], 'size'),
                (['-n', 'few'], 'whole number'),
                (['--threads', '-1'], 'whole number'),
                (['--scaling', 'strange'], 'strange'),
                (['--processes', 'q'], "no parameter 'q'"),
                (['--why', 'main->flat', '--print', 'all'], 'exclude'),
                (['--print', 'all', '--json'], 'leave out --json')):
            with self.subTest(args):
                self.assertFails(run('model', f, *args), 2, words)
        self.assertFails(run('model'), 2, 'needs a file')

    def test_wrong_modeler_for_several(self):
        points = [(p, n) for p in P for n in P]
        f = self.write('a.txt', text({'r': [p for p, n in points]}, 'p n', ['(%d %d)' % x for x in points]))
        self.assertFails(run('model', f, '--modeler', 'basic'), 2, 'multi-parameter')
        self.assertFails(run('model', f, '-O', 'allow_log_terms=no'), 2, 'single.allow_log_terms')
        self.assertFails(run('model', f, '-O', 'single_parameter_modeler=adaptive'), 2, 'basic|refining|segmented')

    def test_unreadable(self):
        self.assertFails(run('model', self.path('missing.txt')), 3, 'missing.txt')
        self.assertFails(run('model', self.write('a.txt', 'nonsense')), 3, 'a.txt')

    def test_many_parameters(self):
        names = [f'x{i}' for i in range(12)]
        points = [[5 if j == i else 1 for j in range(12)] for i in range(12)] + [[1] * 12]
        f = self.write('a.jsonl', records([(dict(zip(names, x)), 'r', 'time', sum(x)) for x in points]))
        r = run('model', '--json', f)
        self.assertEqual(0, r.status, r)
        self.assertEqual(names, r.json['parameters'])

    def test_same_answer_with_any_number_of_threads(self):
        regions = {f'f{i}': [[i + j * p ** (i % 4 / 2) for j in (1, 1.1)] for p in P] for i in range(200)}
        f = self.write('a.txt', text(regions))
        one = run('model', '--json', f, '--threads', '1').out
        self.assertEqual(one, run('model', '--json', f, '--threads', '3').out)
        self.assertEqual(one, run('model', '--json', f).out)


if __name__ == '__main__':
    main()
