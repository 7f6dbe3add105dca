"""Scaling models in the viewer: the numbers of api/scale, api/curve, api/surface and api/why are those of model and predict, and of functions known beforehand."""
import base64
import gzip
import json
import math
import os
import re
import unittest

from common import Case, main, run
from viewer import Refused, Viewer

CORPUS = os.environ.get('ASSAY_CORPUS', '')
# time(p): of solve 2 + 3 p, of io 7 log2(p); two repetitions that lie as far above as below
LINE = {'solve': lambda p: 2 + 3 * p, 'io': lambda p: 7 * math.log2(p)}
POINTS = [4, 8, 16, 32, 64, 128]


def line(points=POINTS, functions=None, metric='time'):
    text = 'PARAMETER p\nPOINTS ' + ' '.join(f'({p})' for p in points) + f'\nMETRIC {metric}\n'
    for name, f in (functions or LINE).items():
        text += f'REGION main->{name}\n' + ''.join(f'DATA {f(p) - 0.125} {f(p) + 0.125}\n' for p in points)
    return text


def plane():
    xs, ys = [2, 4, 8, 16, 32], [10, 20, 30, 40, 50]
    text = 'PARAMETER p\nPARAMETER n\nPOINTS ' + ' '.join(f'({x} {y})' for x in xs for y in ys) + '\nMETRIC time\nREGION main->both\n'
    return text + ''.join(f'DATA {5 + 0.5 * x * y}\n' for x in xs for y in ys)


def rows(answer):
    columns = answer['rows']
    return {path: {key: column[i] for key, column in columns.items()} for i, path in enumerate(columns['callpath'])}


def value_at(terms, point):
    """c0 + sum of c * product of p^a * log2(p)^b"""
    constant, *products = terms
    return constant + sum(c * math.prod(point[k] ** a * math.log2(point[k]) ** b for k, a, b in factors) for c, *factors in products)


class Scale(Case):
    def test_formulas_come_and_go(self):
        """What was kept without them knows nothing of their metrics."""
        with Viewer(self.write('line.txt', line())) as viewer:
            derives = [f'd{k}=time*{k + 2}' for k in range(9)]
            for given in ([], derives, derives[:2], [], derives):
                answer = viewer.get('scale', derive=given)
                self.assertEqual([('time', 2)], [(m['name'], m['callpaths']) for m in answer['metrics']], 'formulas have no models')

    def test_known_functions(self):
        with Viewer(self.write('line.txt', line())) as viewer:
            answer = viewer.get('scale', at='p=1024')
            self.assertEqual(('time', 'basic', 'mean', 'weak', 6), tuple(answer[k] for k in ('metric', 'modeler', 'measure', 'scaling', 'n_points')))
            self.assertEqual([{'name': 'p', 'is_processes': True, 'values': POINTS}], answer['parameters'])
            self.assertEqual(({'p': 1024}, {'p': 4}, {'p': 128}, 8, 'p'), tuple(answer[k] for k in ('at', 'base', 'largest', 'extrapolation', 'extrapolated')))
            of = rows(answer)
            self.assertEqual(['main->solve', 'main->io'], list(of))  # what grows fastest first
            solve, io = of['main->solve'], of['main->io']
            self.assertEqual(('linear', 'p', 'logarithmic', 'log p'), (solve['order'], solve['growth'], io['order'], io['growth']))
            for row, name in ((solve, 'solve'), (io, 'io')):
                self.assertAlmostEqual(LINE[name](1024), row['value'], 6)
                self.assertAlmostEqual(LINE[name](128), row['now'], 6)
                self.assertLessEqual(row['low'], row['value'])
                self.assertLessEqual(row['value'], row['high'])
                self.assertAlmostEqual(LINE[name](4) / LINE[name](1024), row['speedup'], 6)
                self.assertAlmostEqual(row['speedup'] / 256, row['efficiency_strong'], 9)
                self.assertEqual((6, 16), (row['points'], len(row['spark'])))
            total = LINE['solve'](1024) + LINE['io'](1024)
            self.assertAlmostEqual(total, answer['total']['value'], 5)
            self.assertAlmostEqual(LINE['solve'](1024) / total, solve['share'], 9)
            self.assertAlmostEqual(LINE['io'](128) / (LINE['solve'](128) + LINE['io'](128)), io['share_now'], 9)

    def test_a_metric_without_measurements(self):
        with Viewer(self.write('line.txt', line() + 'METRIC other\n')) as viewer:
            with self.assertRaisesRegex(Refused, 'has no measurements'):
                viewer.get('scale', metric='other')
            self.assertTrue(viewer.get('scale')['rows'])

    def test_orders_and_parts(self):
        with Viewer(self.write('line.txt', line(functions={'c': lambda p: 1000, 'a': lambda p: p * p, 'b': lambda p: 1 + p}))) as viewer:
            names = lambda **more: viewer.get('scale', at='p=16', **more)['rows']['name']
            self.assertEqual(['a', 'b', 'c'], names())
            self.assertEqual(['c', 'a', 'b'], names(sort='share'))  # 1000, 256, 17
            self.assertEqual(['a', 'c', 'b'], names(sort='now'))  # at p=128: 16384, 1000, 129
            self.assertEqual(['c', 'b', 'a'], names(sort='change'))  # 1, 17/129, 256/16384
            self.assertEqual(['a', 'b', 'c'], names(sort='name'))
            self.assertEqual(['c', 'b', 'a'], names(sort='name', reverse=1))
            self.assertEqual(['c', 'a', 'b'], names(sort='tree'))
            self.assertEqual(['b'], names(sort='name', offset=1, limit=1))
            part = viewer.get('scale', match='[ab]$', limit=1)
            self.assertEqual((2, 3, ['a']), (part['n'], part['n_models'], part['rows']['name']))
            self.assertEqual(['c'], names(match='main->c'))
            self.assertEqual([], names(offset=7))

    def test_patterns_mean_what_they_say(self):
        """The shortcuts of a search must find what the expression finds: Python's expressions decide, where both kinds mean the same."""
        functions = [f'{first}{middle}{last}' for first in ('solve', 'so', 'a.b', 'kernel<3>') for middle in ('', '_x', '_xx', '[1]') for last in ('', '9', '99z', '$end')]
        with Viewer(self.write('many.txt', line(functions={name: (lambda p, k=i: k + p) for i, name in enumerate(functions)}))) as viewer:
            names = lambda **more: viewer.get('scale', sort='tree', limit=1000, **more)['rows']['name']
            self.assertEqual(len(functions), len(names()))
            for pattern in ('solve', 'so.*9', '.*so.*9.*', 'solve_x+9', 'solve_x+?9', 'solve_x*9', 'solve_x?9', 'e_x+$', '^main->so', '->so$', 'a.b', 'a[.]b', 'x[\\]z]', '[^\\]s]9', 'l<3>_xx*9+z', 'lve|9z',
                            '(so|nel).*x.*9', '_x{2}', 'a\\.b', '\\$end', 'nothing.*at all', '[[:digit:]]z', '9*9*z', '.*', 'b.?x', 'kernel.[0-9].'):
                python = re.compile(pattern.replace('[[:digit:]]', '[0-9]'))
                with self.subTest(pattern):
                    self.assertEqual([name for name in names() if python.search('main->' + name)], names(match=pattern))
                    self.assertEqual([name for name in reversed(names()) if python.search('main->' + name)], names(match=pattern, reverse=1))
            with self.assertRaises(Refused) as refused:  # what would take minutes to be made
                viewer.get('scale', match='(((x{1,200}){1,200}){1,200}){1,200}')
            self.assertEqual(400, refused.exception.status)

    def test_curve(self):
        with Viewer(self.write('line.txt', line())) as viewer:
            ids = {path: row['context'] for path, row in rows(viewer.get('scale')).items()}
            answer = viewer.get('curve', context=f"{ids['main->io']},{ids['main->solve']}", to=4096)
            self.assertEqual(('p', True), (answer['over'], answer['is_log']))
            self.assertEqual((4, 4096), (answer['x'][0], answer['x'][-1]))
            self.assertEqual(['io', 'solve'], [c['name'] for c in answer['curves']])
            for curve in answer['curves']:
                f = LINE[curve['name']]
                for x, y, low, high in zip(answer['x'], curve['y'], curve['low'], curve['high']):
                    self.assertAlmostEqual(1, y / f(x), 6)
                    self.assertTrue(low <= y <= high, (x, low, y, high))
                measured = curve['measured']
                self.assertEqual([[p] for p in POINTS], measured['at'])
                for i, p in enumerate(POINTS):
                    self.assertEqual([f(p) - 0.125, f(p) + 0.125], measured['values'][i])
                    self.assertAlmostEqual(f(p), measured['value'][i])
                    self.assertAlmostEqual(f(p) - 0.125, measured['minimum'][i])
                    self.assertAlmostEqual(f(p), measured['model'][i], 6)
                self.assertEqual([2] * 6, measured['repetitions'])
            self.assertFalse(viewer.get('curve', context=ids['main->io'], log=0)['is_log'])

    def test_surface(self):
        with Viewer(self.write('plane.txt', plane())) as viewer:
            context = viewer.get('scale')['rows']['context'][0]
            answer = viewer.get('surface', context=context, at='p=64,n=50')
            self.assertEqual((['p', 'n'], [True, False]), (answer['over'], answer['is_log']))
            self.assertEqual((2, 64, 10, 50), (answer['x'][0], answer['x'][-1], answer['y'][0], answer['y'][-1]))
            for j, y in enumerate(answer['y']):
                for i, x in enumerate(answer['x']):
                    self.assertAlmostEqual(1, answer['z'][j * len(answer['x']) + i] / (5 + 0.5 * x * y), 4)
            self.assertEqual(25, len(answer['measured']['at']))
            turned = viewer.get('surface', context=context, over='n,p')
            self.assertEqual((['n', 'p'], 128), (turned['over'], turned['y'][-1]))
            # along n, p held
            curve = viewer.get('curve', context=context, over='n', at='p=8,n=50', to=100)
            self.assertAlmostEqual(5 + 0.5 * 8 * 100, curve['curves'][0]['y'][-1], 5)

    def test_strong_scaling_is_asked_for(self):
        falls = {'work': lambda p: 512 / p, 'wait': lambda p: 3 + 0 * p}
        whole = 'REGION main\n' + ''.join(f'DATA {sum(f(p) for f in falls.values())}\n' for p in POINTS)
        path = self.write('strong.txt', line(functions=falls) + whole)
        with Viewer(path) as viewer:
            weak, strong = viewer.get('scale'), viewer.get('scale', scaling='strong')
            self.assertEqual(('p', False, True), (weak['looks_strong'], weak['is_work'], strong['is_work']))
            of = rows(strong)
            self.assertAlmostEqual(512, of['main->work']['now'], 4)  # the same work for all p
            self.assertAlmostEqual(3 * 128, of['main->wait']['now'], 4)
            # what was asked in between has not changed what the input is
            self.assertEqual(weak, viewer.get('scale'))
            self.assertEqual({path: row['context'] for path, row in rows(weak).items()}, {path: row['context'] for path, row in of.items()})

    def test_inputs_of_one_point_are_one_experiment(self):
        parts = [self.write(f'p{p}.txt', line([p])) for p in POINTS]
        with Viewer(*parts) as viewer:
            answer = viewer.get('scale', at='p=1024')
            self.assertEqual(([0, 1, 2, 3, 4, 5], [1, 2, 3, 4, 5], 6), (answer['inputs'], answer['could_join'], answer['n_points']))
            self.assertAlmostEqual(LINE['solve'](1024), rows(answer)['main->solve']['value'], 6)
            self.assertEqual([3], viewer.get('scale', d=3, together=0)['inputs'])
            self.assertEqual(6, len(viewer.get('curve', context=answer['rows']['context'][0], d=3)['curves'][0]['measured']['at']))

    def test_what_inputs_say_of_experiments(self):
        parts = [self.write(f'p{p}.txt', line([p])) for p in POINTS[:3]]
        with Viewer(self.write('none.folded', 'main;solve 3\n'), *parts, self.write('whole.txt', line())) as viewer:
            self.assertEqual({'inputs': [1, 2, 3], 'parameters': ['p']}, viewer.get('inputs')['experiment'])
        with Viewer(parts[0]) as viewer:
            self.assertIsNone(viewer.get('inputs')['experiment'])

    def inside(self, path, *options):
        """The answers in a report, and what the command said."""
        report = self.path('report.html')
        done = run('report', path, *options, '-o', report)
        self.assertEqual(0, done.status, done.err)
        with open(report, encoding='utf-8') as f:
            packed = re.search(r'<script[^>]*id="?assay-data"?[^>]*>([^<]*)</script>', f.read()).group(1)
        return json.loads(gzip.decompress(base64.b64decode(packed))), done.err

    def test_in_a_report(self):
        """The page of a report finds the table without rows, and the functions to make them of."""
        path = self.write('line.txt', line())
        answers, said = self.inside(path)
        self.assertEqual('', said)
        models = answers['models?details=2&rows=2']
        with Viewer(path) as viewer:
            self.assertEqual(viewer.get('scale', limit=0), answers['scale?limit=0'])
            self.assertEqual(viewer.get('models', rows=2, details=2), models)
            curves = viewer.get('curve', context='1,2')['curves']
        for row in models['rows']:
            for p in (4, 777, 1e6):
                self.assertAlmostEqual(1, value_at(row['terms'], [p]) / LINE[row['name']](p), 9)
            curve = next(c for c in curves if c['context'] == row['context'])
            self.assertEqual(curve['measured'], row['measured'])
            self.assertEqual((curve['python'], curve['function']), (row['python'], row['function']))

    def test_functions_of_two_parameters(self):
        with Viewer(self.write('plane.txt', plane())) as viewer:
            answer = viewer.get('models', details=1)
            row = answer['rows'][0]
            self.assertAlmostEqual(5 + 0.5 * 300 * 70, value_at(row['terms'], [300, 70]), 6)
            self.assertEqual((len(row['low']), len(row['high'])), (math.prod(map(len, answer['places'])),) * 2)
            p, n = answer['places']
            at = p.index(32) * len(n) + n.index(50)
            there = rows(viewer.get('scale', at='p=32,n=50'))['main->both']
            self.assertAlmostEqual(1, row['low'][at] / there['low'], 3)
            self.assertAlmostEqual(1, row['high'][at] / there['high'], 3)

    def test_places_of_the_least_numbers(self):
        """5e-324 times a small factor is 5e-324 again."""
        text = 'PARAMETER p\nPOINTS (5e-324) (8) (16) (32) (64)\nREGION main\nMETRIC time\n' + ''.join(f'DATA {v}\n' for v in (1, 8, 16, 32, 64))
        with Viewer(self.write('least.txt', text.encode())) as viewer:
            places, = viewer.get('models')['places']
            self.assertEqual(5e-324, places[0])
            self.assertIn(64 * 1024, places)
            self.assertEqual(sorted(set(places)), places)

    def test_what_has_no_row_is_part_of_the_total(self):
        functions = {f'f{i}': (lambda k: lambda p: k + k * p)(i + 1) for i in range(30)}
        with Viewer(self.write('many.txt', line(functions=functions))) as viewer:
            answer = viewer.get('models', rows=10)
            self.assertEqual((30, 10), (answer['n'], len(answer['rows'])))
            self.assertFalse([row for row in answer['rows'] if 'measured' in row])
            total = value_at(answer['rest'], [1000]) + sum(value_at(row['terms'], [1000]) for row in answer['rows'])
            self.assertAlmostEqual(1, total / (30 * 31 / 2 * 1001), 9)
            self.assertAlmostEqual(1, viewer.get('scale', at='p=1000')['total']['value'] / total, 12)
            with self.assertRaises(Refused):
                viewer.get('models', modeler='segmented', rows=1001)

    def test_report_of_more_models_than_it_has_room_for(self):
        functions = {f'function_{i}_{i * 7919 % 1009}': (lambda k: lambda p: k % 97 + k * p)(i + 1) for i in range(3000)}
        answers, said = self.inside(self.write('many.txt', line(functions=functions)), '--max-size', '400kB')
        models = next(answer for name, answer in answers.items() if name.startswith('models?'))
        n, detailed = len(models['rows']), len([row for row in models['rows'] if 'measured' in row])
        self.assertLess(n, 3000)
        self.assertIn(f'scaling models of time of many.txt: {3000 - n} that grow least', said)
        self.assertIn(f'those of {n - detailed} of {n}', said)
        total = value_at(models['rest'], [512]) + sum(value_at(row['terms'], [512]) for row in models['rows'])
        self.assertAlmostEqual(1, total / answers['scale?limit=0']['total']['value'], 9)

    def test_whole_experiments_stay_apart(self):
        a, b = self.write('a.txt', line()), self.write('b.txt', line(functions={'solve': LINE['solve'], 'more': lambda p: p}))
        with Viewer(a, b) as viewer:
            self.assertEqual(([1], [0]), tuple(viewer.get('scale', d=1)[k] for k in ('inputs', 'could_join')))
            both = viewer.get('scale', together=1, sort='name')
            self.assertEqual(([0, 1], ['io', 'more', 'solve']), (both['inputs'], both['rows']['name']))
            # what only the second has is numbered behind what the first has
            more = both['rows']['context'][1]
            self.assertGreaterEqual(more, 3)
            self.assertEqual('more', viewer.get('curve', together=1, context=more)['curves'][0]['name'])

    def test_refusals(self):
        with Viewer(self.write('line.txt', line()), self.write('none.folded', 'main;solve 3\n')) as viewer:
            for params, status, words in (({'sort': 'size'}, 400, 'sort'), ({'match': '('}, 400, '--match'), ({'at': 'q=3'}, 400, 'q'), ({'at': 'p=2..8'}, 400, 'one point'),
                                          ({'metric': 'tine'}, 400, 'time'), ({'modeler': 'multi-parameter'}, 400, 'several'), ({'set': 0}, 400, 'no models'),
                                          ({'limit': 1001}, 400, '1000'), ({'O': 'allow_log_term=no'}, 400, 'allow_log_terms'), ({'d': 2}, 400, 'from 0 to 1')):
                with self.subTest(params), self.assertRaises(Refused) as refused:
                    viewer.get('scale', **params)
                self.assertEqual(status, refused.exception.status, refused.exception)
                self.assertIn(words, str(refused.exception))
            for name, params, status in (('curve', {}, 400), ('curve', {'context': 'x'}, 400), ('curve', {'context': 4294967295}, 422), ('curve', {'context': '99999999999999999999'}, 400),
                                         ('curve', {'context': 1, 'over': 'q'}, 400), ('curve', {'context': 1, 'to': 'far'}, 400), ('surface', {'context': 1}, 422), ('why', {'context': 0}, 422)):
                with self.subTest(name, params=params), self.assertRaises(Refused) as refused:
                    viewer.get(name, **params)
                self.assertEqual(status, refused.exception.status, refused.exception)

    def test_options_of_the_method(self):
        path = self.write('line.txt', line())
        with Viewer(path) as viewer:
            answer = viewer.get('scale', O='allow_log_terms=no', measure='maximum')
            self.assertEqual('maximum', answer['measure'])
            self.assertFalse([f for f in answer['rows']['function'] if 'log' in f])
            self.assertAlmostEqual(LINE['solve'](128) + 0.125, rows(answer)['main->solve']['now'], 6)

    def test_models_are_kept_apart_from_the_dataset(self):
        with Viewer(self.write('line.txt', line())) as viewer:
            viewer.get('scale')
            self.assertEqual(0, viewer.get('inputs')['inputs'][0]['has']['models'])


class SameAsTheCommand(Case):
    """Whatever the input: the command's numbers, to the last digit."""

    def check(self, path, **choice):
        options = [word for key, value in choice.items() for word in (f'--{key}', value)]
        models = run('model', '--json', path, *options)
        self.assertEqual(0, models.status, models)
        with Viewer(path) as viewer:
            first = viewer.get('scale', **choice)
            at = ','.join(f'{k}={v!r}' for k, v in first['at'].items())
            predicted = run('predict', '--json', path, '--at', at, *options)
            self.assertEqual(0, predicted.status, predicted)
            for metric in first['metrics']:
                answer = viewer.get('scale', **{**choice, 'metric': metric['name']}, limit=1000)
                of = {(m['callpath'], m['metric']): m for m in models.json['models']}
                then = {(m['callpath'], m['metric']): m for m in predicted.json}
                self.assertEqual(len([k for k in of if k[1] == metric['name']]), answer['n'])
                for callpath, row in rows(answer).items():
                    model, value = of[callpath, metric['name']], then[callpath, metric['name']]
                    for key in ('function', 'growth', 'order', 'AR2', 'SMAPE', 'noise', 'points', 'flags'):
                        self.assertEqual(model[key] if model[key] != 'nan' else None, row[key], (callpath, key))
                    for key in ('value', 'low', 'high', 'share', 'speedup', 'efficiency_strong', 'efficiency_weak'):
                        self.assertEqual(value[key] if value[key] != 'nan' else None, row[key], (callpath, key))
                whole = then[None, metric['name']]
                for key in ('value', 'low', 'high', 'speedup'):
                    self.assertEqual(whole[key] if whole[key] != 'nan' else None, answer['total'][key])
                path_of = answer['rows']['callpath'][0]
                why = run('model', '--json', path, '--why', path_of, '--metric', metric['name'], *options)
                if why.status == 0:
                    self.assertEqual(why.json, viewer.get('why', **{**choice, 'metric': metric['name']}, context=answer['rows']['context'][0]))

    def test_suggestions(self):
        path = self.write('line.txt', line())
        expected = run('suggest', '--json', path, '--budget', '1000', '--processes', '1')
        self.assertEqual(0, expected.status, expected)
        with Viewer(path) as viewer:
            before = viewer.get('scale')
            self.assertEqual(expected.json, viewer.get('suggest', budget=1000, processes=1))
            self.assertEqual(run('suggest', '--json', path, '--budget', '1000').json, viewer.get('suggest', budget=1000))
            self.assertEqual(before, viewer.get('scale'))
            with self.assertRaises(Refused) as refused:
                viewer.get('suggest')
            self.assertIn('budget', str(refused.exception))

    def test_own(self):
        self.check(self.write('line.txt', line()))
        self.check(self.write('plane.txt', plane()))
        self.check(self.write('line.txt', line()), measure='median', modeler='refining')
        self.check(self.write('line.txt', line()), scaling='strong')

    @unittest.skipUnless(CORPUS, 'no corpus')
    def test_corpus(self):
        names = ['extrap/text/one_parameter_1.txt', 'extrap/text/one_parameter_5.txt', 'extrap/text/two_parameter_1.txt', 'extrap/text/three_parameter_1.txt',
                 'extrap/jsonlines/sparse_matrix_2p.jsonl', 'extrap/input/exp_only_mean_median.extra-p', 'extrap/input/experiment_3', 'extrap/talpas/talpas_2.txt',
                 'cube/sets/single_parameter', 'cube/sets/simple_threaded']
        for name in names:
            with self.subTest(name):
                self.check(os.path.join(CORPUS, name))
        with self.subTest('segmented'):
            self.check(os.path.join(CORPUS, 'extrap/text/one_parameter_segmented_1.txt'), modeler='segmented')
        for name in ('cube/sets/single_parameter', 'cube/sets/simple_threaded', 'extrap/text/one_parameter_1.txt'):
            with self.subTest('strong ' + name):
                self.check(os.path.join(CORPUS, name), scaling='strong')

    @unittest.skipUnless(CORPUS, 'no corpus')
    def test_models_of_the_file(self):
        path = os.path.join(CORPUS, 'extrap/input/exp_only_mean_median.extra-p')
        stored = run('sql', '--json', path, 'select o."set" as set_name, m.name as metric, c.path as callpath, o.function, o.SMAPE as smape from model o join metric m on m.id = o.metric '
                     'join context c on c.id = o.context')
        self.assertEqual(0, stored.status, stored)
        with Viewer(path) as viewer:
            sets = viewer.get('scale')['sets']
            self.assertEqual(4, len(sets))
            n = 0
            for i, of_set in enumerate(sets):
                for metric in viewer.get('scale', set=i)['metrics']:
                    answer = viewer.get('scale', set=i, metric=metric['name'])
                    self.assertEqual(i, answer['set'])
                    self.assertEqual(of_set['measure'], answer['measure'])
                    for callpath, row in rows(answer).items():
                        expected = [r for r in stored.json if (r['set_name'], r['metric'], r['callpath']) == (of_set['name'], metric['name'], callpath)]
                        self.assertEqual([(row['function'], row['SMAPE'])], [(r['function'], r['smape']) for r in expected])
                        n += 1
            self.assertEqual(len(stored.json), n)


if __name__ == '__main__':
    main()
