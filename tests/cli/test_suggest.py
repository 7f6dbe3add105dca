"""The suggest verb: modes, costs and budgets of designs small enough to reckon by hand; what is refused."""
import csv
import io
import json
import unittest
import zipfile

import common

HOUR = 3600


def experiment(points, value, repetitions=1, names=('p', 'n'), metric='time', regions=('main',)):
    """Text of an experiment whose call paths take value(*point) hours each."""
    lines = [f'PARAMETER {name}' for name in names]
    lines.append('POINTS ' + ' '.join('(' + ' '.join(map(str, point)) + ')' for point in points))
    lines.append(f'METRIC {metric}')
    for region in regions:
        lines.append(f'REGION {region}')
        lines += ['DATA ' + ' '.join([repr(value(*point) * HOUR)] * repetitions) for point in points]
    return '\n'.join(lines) + '\n'


LINE = [(2,), (4,), (8,)]
FULL = [(2,), (4,), (8,), (16,), (32,)]
CROSS = [(p, 10) for p in (1, 2, 4, 8, 16)] + [(1, n) for n in (20, 30, 40, 50)]


class Suggest(common.Case):
    def suggest(self, text, *options, notes=False):
        result = common.run('suggest', '--json', self.write('runs.txt', text), *options)
        self.assertEqual(0, result.status, result)
        if not notes:
            self.assertEqual('', result.err)
        return result.json

    def points(self, answer):
        return [tuple(s['point'].values()) for s in answer['suggestions']]


class Modes(Suggest):
    def test_base_completes_the_line(self):
        answer = self.suggest(experiment(LINE, lambda p: p / 4, 2, ['p']), '--budget', 1000, notes=True)
        self.assertEqual('base', answer['mode'])
        self.assertIn('p has 3', answer['reason'])
        self.assertEqual([(16,), (32,)], self.points(answer))
        self.assertEqual(['point 4 of 5 on the line of p', 'completes the line of p to 5 points'], [s['brings'] for s in answer['suggestions']])
        # two runs of p / 4 hours on p processes: 2 * (1 + 4 + 16) core hours so far
        self.assertAlmostEqual(42, answer['used'])
        self.assertEqual([2, 2], [s['repetitions'] for s in answer['suggestions']])
        for s, runtime, cost, total in zip(answer['suggestions'], (4 * HOUR, 8 * HOUR), (128, 512), (128, 640)):
            self.assertAlmostEqual(runtime, s['runtime'])
            self.assertAlmostEqual(cost, s['cost'])
            self.assertAlmostEqual(total, s['total'])
            self.assertTrue(s['fits'])
        self.assertAlmostEqual(640, answer['suggested'])
        self.assertAlmostEqual(318, answer['left'])
        self.assertIn('power law', ' '.join(answer['notes']))

    def test_base_marks_what_the_budget_does_not_hold(self):
        answer = self.suggest(experiment(LINE, lambda p: p / 4, 2, ['p']), '--budget', 200, notes=True)
        self.assertEqual([True, False], [s['fits'] for s in answer['suggestions']])
        self.assertAlmostEqual(128, answer['suggested'])

    def test_add_takes_the_cheapest(self):
        text = experiment(CROSS, lambda p, n: n / 10)
        answer = self.suggest(text, '--budget', 31 + 14 + 4 + 6 + 9)  # 31 for the line of p, 2 + 3 + 4 + 5 for that of n
        self.assertEqual('add', answer['mode'])
        self.assertAlmostEqual(45, answer['used'])
        # (2, 20) costs 4 and comes first, being outside the lines; then (1, 60) … cost 6 and so on, like (2, 30) with 6
        self.assertEqual((2, 20), self.points(answer)[0])
        self.assertEqual([4, 6, 6], [round(s['cost'], 6) for s in answer['suggestions']][:3])
        self.assertLessEqual(answer['suggested'], 19 + 1e-9)

    def test_gpr_stays_in_the_budget(self):
        text = experiment(FULL, lambda p: p ** .5, 3, ['p'])
        answer = self.suggest(text, '--budget', 3000)
        self.assertEqual('gpr', answer['mode'])
        self.assertGreater(len(answer['suggestions']), 0)
        self.assertLessEqual(answer['used'] + answer['suggested'], 3000)
        self.assertAlmostEqual(answer['suggested'], sum(s['cost'] for s in answer['suggestions']))
        for s in answer['suggestions']:
            new = s['point']['p'] > 32
            self.assertLessEqual(s['repetitions'], 5 if new else 2)
            self.assertAlmostEqual(1, s['runtime'] / (s['point']['p'] ** .5 * HOUR), 3)

    def test_same_answer_again(self):
        path = self.write('runs.txt', experiment(CROSS + [(2, 20)], lambda p, n: n / 10 + p ** 1.1, 2))
        first = common.run('suggest', path, '--budget', 5000, '--threads', 1)
        self.assertFine(first)
        self.assertEqual(first.out, common.run('suggest', path, '--budget', 5000).out)
        self.assertIn('gpr: ', first.out)

    def test_forced(self):
        answer = self.suggest(experiment(LINE, lambda p: 1, names=['p']), '--budget', 100, '--mode', 'add', notes=True)
        self.assertEqual('add', answer['mode'])
        self.assertIn('as asked for', answer['reason'])
        self.assertIn('fewer than 5 points', ' '.join(answer['notes']))
        answer = self.suggest(experiment(FULL, lambda p: 1, names=['p']), '--budget', 100, '--mode', 'base')
        self.assertEqual([], answer['suggestions'])
        self.assertIn('has its line already', answer['nothing'])


class Costs(Suggest):
    def test_fixed_number_of_processes(self):
        text = experiment(LINE, lambda n: n / 2, names=['n'])
        answer = self.suggest(text, '--budget', 1000, '--processes', 3, notes=True)
        self.assertAlmostEqual(3 * 7, answer['used'])
        self.assertAlmostEqual(3 * 8, answer['suggestions'][0]['cost'])
        self.assertEqual(3, answer['processes'])

    def test_strong_scaling_costs_the_same_and_shows_one_run(self):
        text = experiment(FULL, lambda p: 64 / p, names=['p'])
        answer = self.suggest(text, '--budget', 5 * 64 + 64 * 1.5, '--scaling', 'strong', '--repetitions', 1, notes=True)
        self.assertTrue(answer['strong'])
        self.assertAlmostEqual(5 * 64, answer['used'])
        self.assertEqual(1, len(answer['suggestions']))
        suggestion = answer['suggestions'][0]
        self.assertAlmostEqual(64, suggestion['cost'])
        self.assertAlmostEqual(64 * HOUR / suggestion['point']['p'], suggestion['runtime'], 3)

    def test_call_paths_add_up_and_can_be_chosen(self):
        text = experiment(LINE, lambda p: 1, names=['p'], regions=('main', 'main->a', 'main->b', 'other'))
        for options, factor in ((), 4), (('--match', '^main'), 3), (('--match', 'main', '--sum', 'topmost'), 1), (('--sum', 'topmost'), 2):
            answer = self.suggest(text, '--budget', 1e4, *options, notes=True)
            self.assertAlmostEqual(14 * factor, answer['used'])
            self.assertEqual(factor, answer['callpaths'])

    def test_inclusive_values_are_recognised(self):
        text = experiment(LINE, lambda p: 3, names=['p']) + experiment(LINE, lambda p: 1, names=['p'], regions=('main->a', 'main->b')).split('\n', 3)[3]
        answer = self.suggest(text, '--budget', 1e4, notes=True)
        self.assertAlmostEqual(3 * 14, answer['used'])
        self.assertIn('look inclusive', ' '.join(answer['notes']))
        self.assertAlmostEqual(5 * 14, self.suggest(text, '--budget', 1e4, '--sum', 'all', notes=True)['used'])
        self.assertAlmostEqual(14, self.suggest(text, '--budget', 1e4, '--match', 'a$', notes=True)['used'])

    def test_the_metric_is_found(self):
        text = experiment(LINE, lambda p: 1, names=['p'], metric='visits') + experiment(LINE, lambda p: 2, names=['p'], metric='Runtime').split('\n', 2)[2]
        answer = self.suggest(text, '--budget', 1e4, notes=True)
        self.assertEqual('Runtime', answer['metric'])
        self.assertAlmostEqual(28, answer['used'])
        answer = self.suggest(text, '--budget', 1e4, '--metric', 'visits', notes=True)
        self.assertAlmostEqual(14, answer['used'])
        self.assertIn('taken as seconds', ' '.join(answer['notes']))

    def test_unknown_repetitions_count_as_one(self):
        text = json.dumps({'Extra-P': '4.2.5', 'parameters': ['p'], 'measurements': {'main': {'time': [{'coordinate': [p], 'mean': HOUR, 'median': HOUR}
                                                                                                  for p in (2, 4)]}}})
        data = io.BytesIO()
        with zipfile.ZipFile(data, 'w') as z:
            z.writestr('experiment.json', text)
        result = common.run('suggest', '--json', self.write('runs.extra-p', data.getvalue()), '--budget', 100)
        self.assertAlmostEqual(6, result.json['used'])
        self.assertIn('each counts as one', result.err)


class Values(Suggest):
    def test_given_values(self):
        answer = self.suggest(experiment(LINE, lambda p: 1, names=['p']), '--budget', 1e4, '--values', 'p=24,12,12', notes=True)
        self.assertEqual([(12,), (24,)], self.points(answer))
        answer = self.suggest(experiment(LINE, lambda p: 1, names=['p']), '--budget', 1e4, '--values', '3', notes=True)
        self.assertEqual([(3,)], self.points(answer))

    def test_everything_is_measured(self):
        answer = self.suggest(experiment(FULL, lambda p: 1, 5, ['p']), '--budget', 1e4, '--values', 'p=2,4')
        self.assertIn('all combinations of the values are measured', answer['nothing'])

    def test_one_value(self):
        answer = self.suggest(experiment([(4,)], lambda p: 1, names=['p']), '--budget', 1e4, notes=True)
        self.assertEqual([(8,), (16,), (32,), (64,)], self.points(answer))

    def test_values_without_logarithms(self):
        """No power law there: the longest runtime stands for the new points."""
        answer = self.suggest(experiment([(-4,), (-2,), (0,)], lambda n: 3 + n / 4, names=['n']), '--budget', 1e4, '--processes', 1, notes=True)
        self.assertEqual([(2,), (4,)], self.points(answer))
        self.assertEqual([3, 3], [round(s['cost'], 9) for s in answer['suggestions']])

    def test_limit(self):
        text = experiment(CROSS, lambda p, n: n / 10)
        answer = self.suggest(text, '--budget', 1e6, '--limit', 3, notes=True)
        self.assertEqual(3, len(answer['suggestions']))
        self.assertIn('--limit', ' '.join(answer['notes']))

    def test_twelve_parameters(self):
        names = [f'x{i}' for i in range(12)]
        points = [tuple(1 for _ in names)] + [tuple(v if i == k else 1 for i in range(12)) for k in range(12) for v in (2, 3, 4, 5)]
        answer = self.suggest(experiment(points, lambda *x: sum(x), names=names), '--budget', 1e4, '--processes', 1, notes=True)
        self.assertEqual('add', answer['mode'])
        self.assertIn('smallest values', ' '.join(answer['notes']))
        self.assertEqual(100, len(answer['suggestions']))


class Budgets(Suggest):
    def test_too_small_for_anything(self):
        answer = self.suggest(experiment(FULL, lambda p: 1, 5, ['p']), '--budget', 5 * 62 + 63.5, '--values', 'p=64,128')
        self.assertEqual([], answer['suggestions'])
        self.assertIn('p=64', answer['nothing'])
        self.assertIn('costs 64 core hours', answer['nothing'])
        self.assertIn('63.5 are left', answer['nothing'])

    def test_used_up(self):
        result = common.run('suggest', self.write('runs.txt', experiment(FULL, lambda p: 1, 5, ['p'])), '--budget', 300)
        self.assertFine(result)
        self.assertIn('used up', result.out)
        self.assertRegex(result.out, r'left +none, 10 core hours over the budget')

    def test_no_runtime(self):
        answer = self.suggest(experiment(FULL, lambda p: 0, 5, ['p']), '--budget', 300)
        self.assertIn('no positive runtime', answer['nothing'])


class Intervals(Suggest):
    def test_exact_values_leave_little_doubt(self):
        answer = self.suggest(experiment(FULL + [(64,)], lambda p: p, 3, ['p']), '--budget', 1e6, '--mode', 'add', '--limit', 1, notes=True)
        suggestion = answer['suggestions'][0]
        self.assertEqual({'p': 128}, suggestion['point'])
        self.assertLessEqual(suggestion['low'], suggestion['runtime'])
        self.assertGreaterEqual(suggestion['high'], suggestion['runtime'])
        self.assertAlmostEqual(1, suggestion['high'] / suggestion['low'], 3)

    def test_noise_widens_them(self):
        noise = dict(zip((2, 4, 8, 16, 32, 64), (1.1, .9, 1.05, .92, 1.08, .97)))
        path = self.write('runs.txt', experiment(FULL + [(64,)], lambda p: p * noise[p], names=['p']))
        result = common.run('suggest', '-q', path, '--budget', 1e6, '--limit', 3)
        self.assertIn('95 % interval', result.out)
        for suggestion in common.run('suggest', '-q', '--json', path, '--budget', 1e6, '--limit', 3).json['suggestions']:
            self.assertLess(suggestion['low'], .97 * suggestion['runtime'])
            self.assertGreater(suggestion['high'], 1.03 * suggestion['runtime'])

    def test_none_without_models(self):
        answer = self.suggest(experiment(LINE, lambda p: p, 3, ['p']), '--budget', 1e6, notes=True)
        self.assertEqual([(None, None)] * 2, [(s['low'], s['high']) for s in answer['suggestions']])


class Output(Suggest):
    def test_text(self):
        result = common.run('suggest', '-q', self.write('runs.txt', experiment(LINE, lambda p: p / 4, 2, ['p'])), '--budget', 200)
        self.assertFine(result)
        for text in ('base: a model needs 5 points', 'that times p', 'completes the line of p to 5 points; beyond the budget', 'budget     200 core hours'):
            self.assertIn(text, result.out)

    def test_tables(self):
        path = self.write('runs.txt', experiment(LINE, lambda p: p / 4, 2, ['p']))
        rows = list(csv.DictReader(io.StringIO(common.run('suggest', '--csv', path, '--budget', 200).out)))
        self.assertEqual(['16', '32'], [row['p'] for row in rows])
        self.assertEqual(['1', '0'], [row['fits'] for row in rows])
        lines = common.run('suggest', '--jsonl', path, '--budget', 200).out.splitlines()
        self.assertEqual([16, 32], [json.loads(line)['p'] for line in lines])
        self.assertIn('| 16 |', common.run('suggest', '--md', path, '--budget', 200).out.replace('  ', ' '))


class Refused(common.Case):
    def refused(self, *options, words, status=2, text=None):
        path = self.write('runs.txt', text or experiment(CROSS, lambda p, n: n))
        self.assertFails(common.run('suggest', '-q', path, *options), status, *words)

    def test_budget(self):
        self.refused(words=['needs a budget'])
        for wrong in '-5', '0', 'much', 'inf', 'nan', '4h':
            self.refused(f'--budget={wrong}', words=['--budget', wrong, 'core hours'])

    def test_parameters(self):
        self.refused('--budget', 9, '--processes', 'q', words=["no parameter 'q'"])
        self.refused('--budget', 9, '--processes', '-1', words=['--processes'])
        self.refused('--budget', 9, '--values', 'm=1,2', words=["no parameter 'm'"])
        self.refused('--budget', 9, '--values', '1,2', words=['whose values'])
        self.refused('--budget', 9, '--values', 'p=1,,2', words=['is no number'])
        self.refused('--budget', 9, words=['which parameter counts the processes'], text=experiment(LINE, lambda n: 1, names=['n']))
        self.refused('--budget', 9, words=['does not count processes'], text=experiment([(0,), (2,)], lambda p: 1, names=['p']))

    def test_metrics_and_call_paths(self):
        self.refused('--budget', 9, '--metric', 'tme', words=["no metric 'tme'", 'time'])
        self.refused('--budget', 9, '--metric', 'time', '--metric', 'time', words=['one metric'])
        self.refused('--budget', 9, '--match', 'nobody', words=['nobody'])

        self.refused('--budget', 9, words=['below 0'], text=experiment(LINE, lambda p: -1, names=['p']))

    def test_numbers(self):
        self.refused('--budget', 9, '--repetitions', 0, words=['--repetitions'])
        self.refused('--budget', 9, '--limit', 5000, words=['--limit'])
        self.refused('--budget', 9, '--mode', 'best', words=['best'])

    def test_values(self):
        self.refused('--budget', 9, words=['no call path has a finite value'], status=3, text=experiment(LINE, lambda p: float('nan'), names=['p']))
        self.assertFails(common.run('suggest', '--budget', 9), 2, 'needs a file')
        self.assertFails(common.run('suggest', '--budget', 9, self.path('missing.txt')), 3, 'missing.txt')


if __name__ == '__main__':
    unittest.main()
