"""assay compare --noise: spread, what change would be found, drift; and models of both sides (--at)."""
import json
import math
import random

from common import Case, main, run


def experiment(functions, seed, noise=0.01, points=(64, 128, 256, 512, 1024, 2048)):
    rng = random.Random(seed)
    lines = ['PARAMETER n', 'POINTS ' + ' '.join(map(str, points)), 'METRIC time']
    for name, f in functions.items():
        lines.append(f'REGION {name}')
        lines += ['DATA ' + ' '.join(repr(f(n) * rng.uniform(1 - noise, 1 + noise)) for _ in range(5)) for n in points]
    return '\n'.join(lines) + '\n'


def profile(amounts, time=None):
    return json.dumps({'header': {'type': 'mixed', 'cmd': 'bench', 'workload': 'w', 'units': {'mixed': 'us'}}, 'collector_info': {'name': 'trace'},
                       'global': {**({'timestamp': time} if time else {}), 'resources': [{'type': 'mixed', 'uid': u, 'amount': a} for u, a in amounts.items()]}})


BEFORE = {'main->sort': lambda n: 1 + 1e-3 * n * math.log2(n), 'main->scan': lambda n: 0.5 + 1e-3 * n, 'main->init': lambda n: 2}
AFTER = {**BEFORE, 'main->sort': lambda n: 1 + 1e-5 * n * n}


class Noise(Case):
    def runs(self, n, spread, drift=0.0, timed=True):
        rng = random.Random(4)
        return [self.write(f'r{i}.perf', profile({'calm': 1e6 * rng.uniform(0.995, 1.005) * (1 + drift * i / n), 'wild': 1e6 * rng.uniform(1 - spread, 1 + spread)},
                                                 1700000000 + 60 * i if timed else None)) for i in range(n)]

    def test_spread_and_power(self):
        r = run('compare', '--noise', '--json', *self.runs(10, 0.2))
        self.assertFine(r)
        a = {x['callpath']: x for x in r.json['noise']}
        self.assertEqual({None, 'calm', 'wild'}, set(a))
        self.assertEqual(3, r.json['tests'])
        self.assertTrue(all(x['repetitions'] == 10 for x in a.values()))
        # uniform in +-0.5 %: quartiles 0.5 % apart; in +-20 %: 20 % apart
        self.assertAlmostEqual(0.005, a['calm']['spread'], delta=0.003)
        self.assertAlmostEqual(0.20, a['wild']['spread'], delta=0.1)
        # nothing below the threshold can be found; a calm path needs little more, a wild one much more
        self.assertTrue(0.05 <= a['calm']['detectable'] < 0.065, a)
        self.assertTrue(0.1 < a['wild']['detectable'] < 0.6, a)
        self.assertLess(a['calm']['needed'], a['wild']['needed'])
        # 2 / C(2n, n) * 3 tests < 5 % from n = 5 on
        self.assertEqual(5, a['calm']['needed'])

    def test_too_few(self):
        r = run('compare', '--noise', '--json', *self.runs(3, 0.01))
        self.assertFine(r)
        # three on each side: p is at least 2 / C(6, 3) = 0.1
        self.assertTrue(all(x['detectable'] is None for x in r.json['noise']))
        self.assertIn('too few to find any change', run('compare', '--noise', *self.runs(3, 0.01)).out)
        r = run('compare', '--noise', self.runs(1, 0.01)[0])
        self.assertFine(r)
        self.assertIn('No repetitions', r.out)
        self.assertEqual(2, run('compare', '--noise').status)

    def test_outputs(self):
        files = self.runs(10, 0.1)
        text, md, csv = (run('compare', '--noise', *o, *files) for o in ([], ['--md'], ['--csv']))
        for r in (text, md, csv): self.assertFine(r)
        self.assertIn('With 10 repetitions a change of', text.out)
        self.assertIn('| call path', md.out)
        self.assertEqual(1 + 3, len(csv.out.splitlines()))

    def test_drift(self):
        r = run('compare', '--noise', '--json', *self.runs(20, 0.002, drift=0.2))
        trend = next(t for t in r.json['trends'] if t['callpath'] == 'calm')
        self.assertAlmostEqual(0.19 / 1.095, trend['change'], delta=0.01)
        self.assertLess(trend['p'], 1e-4)
        self.assertIn('not independent of when they ran', run('compare', '--noise', *self.runs(20, 0.002, drift=0.2)).out)
        # without times nobody knows the order
        self.assertEqual((False, []), (lambda a: (a['is_ordered'], a['trends']))(run('compare', '--noise', '--json', *self.runs(20, 0.002, drift=0.2, timed=False)).json))
        self.assertEqual([], run('compare', '--noise', '--json', *self.runs(20, 0.05)).json['trends'])


class Growth(Case):
    def test_order_changed(self):
        base, target = self.write('old.txt', experiment(BEFORE, 1)), self.write('new.txt', experiment(AFTER, 2))
        r = run('compare', '--json', '--at', 'n=1e5', base, target)
        self.assertEqual(1, r.status, r)
        first = r.json['growth'][0]
        self.assertEqual(('main->sort', 'degradation', 'degradation', 'n=1e+05'), (first['callpath'], first['order_outcome'], first['at_outcome'], first['at']))
        self.assertEqual(('n log n', 'n^2'), (first['base']['order'], first['target']['order']))
        want = [f['main->sort'](1e5) for f in (BEFORE, AFTER)]
        self.assertAlmostEqual(want[1] / want[0] - 1, first['relative'], delta=0.05 * want[1] / want[0])
        for side, value in zip(('base', 'target'), want):
            self.assertTrue(first[side]['low'] <= first[side]['value'] <= first[side]['high'], first)
            self.assertAlmostEqual(value, first[side]['value'], delta=0.05 * value)
        self.assertEqual({'no change'}, {g['order_outcome'] for g in r.json['growth'][1:]})
        text = run('compare', base, target)
        self.assertIn('1 model got worse', text.out.splitlines()[0])
        self.assertIn('n log n → n^2', text.out)
        self.assertIn('n log n -> n^2', run('compare', '--ascii', base, target).out)
        back = run('compare', '--json', target, base)
        self.assertEqual('optimization', back.json['growth'][0]['order_outcome'])

    def test_order_is_the_same(self):
        base, target = self.write('old.txt', experiment(BEFORE, 1)), self.write('same.txt', experiment(BEFORE, 7))
        r = run('compare', '--json', '--at', '1e5', base, target)
        self.assertEqual(0, r.status, r)
        self.assertEqual({'no change'}, {g['order_outcome'] for g in r.json['growth']})

    def stored(self, name, model, b0, b1, r_square):
        """A profile with a model of f, and nothing that another could be fitted to."""
        curve = {'uid': 'f', 'model': model, 'method': 'full', 'r_square': r_square, 'x_start': 1, 'x_end': 100,
                 'coeffs': [{'name': 'b0', 'value': b0}, {'name': 'b1', 'value': b1}]}
        return self.write(name, json.dumps({**json.loads(profile({'f': 10})), 'models': [curve]}))

    def test_stored_curves(self):
        line, log, power, poor = (self.stored(*x) for x in (('line.perf', 'linear', 1, 2, 0.99), ('log.perf', 'logarithmic', 1, 2, 0.95),
                                                            ('power.perf', 'power', 1, 1.5, 0.97), ('poor.perf', 'power', 1, 1.5, 0.5)))
        r = run('compare', '--json', '--at', 'structure-unit-size=100', line, power)
        self.assertEqual(1, r.status, r)
        g = r.json['growth'][0]
        self.assertEqual(('f', 'n', 'n^1.5', 'degradation'), (g['callpath'], g['base']['order'], g['target']['order'], g['order_outcome']))
        self.assertEqual((201, 1000), (g['base']['value'], round(g['target']['value'], 9)))  # 1 + 2 * 100; 1 * 100^1.5
        self.assertEqual('optimization', run('compare', '--json', line, log).json['growth'][0]['order_outcome'])
        self.assertEqual('maybe degradation', run('compare', '--json', log, poor).json['growth'][0]['order_outcome'])
        self.assertEqual('no change', run('compare', '--json', line, line).json['growth'][0]['order_outcome'])
        self.assertFails(run('compare', '--at', 'x=much', line, line), 2, 'no point')

    def test_stored_curves_that_are_not_looked_at(self):
        line, power = self.stored('line.perf', 'linear', 1, 2, 0.99), self.stored('power.perf', 'power', 1, 1.5, 0.97)
        ignore = self.write('ignore.yaml', 'rules: [{path: f, ignore: true}]\n')
        growth = lambda *options: [(g['order_outcome'], g.get('at_outcome')) for g in run('compare', '--json', *options, line, power).json.get('growth', [])]
        self.assertEqual([('degradation', None)], growth('--match', '^f$'))
        self.assertEqual([], growth('--config', ignore))
        self.assertFails(run('compare', '--match', 'g', line, power), 2, 'no call path')
        # 201 and 1000 at 100: +397.5 %
        rule = lambda rule: ('--at', '100', '--config', self.write('rule.yaml', f'rules: [{{{rule}}}]\n'))
        self.assertEqual([('degradation', 'maybe degradation')], growth(*rule('threshold: 397%')))
        self.assertEqual([('degradation', 'no change')], growth(*rule('threshold: 398%')))
        self.assertEqual([('optimization', 'maybe optimization')], growth(*rule('higher_is_better: true')))
        self.assertEqual([('degradation', 'no change')], growth(*rule('metric: ^amount$, threshold: 398%')))

    def test_rules_count_for_orders(self):
        base, target = self.write('old.txt', experiment(BEFORE, 1)), self.write('new.txt', experiment(AFTER, 2))
        outcomes = lambda *options: {g['callpath']: g['order_outcome'] for g in run('compare', '--json', *options, base, target).json['growth']}
        better = self.write('better.yaml', 'rules: [{higher_is_better: true}]\n')
        high = self.write('high.yaml', 'rules: [{threshold: 900%}]\n')
        plain = outcomes()
        changed = {path for path, outcome in plain.items() if outcome == 'degradation'}
        self.assertTrue(changed)
        self.assertEqual({'optimization'}, {outcome for path, outcome in outcomes('--config', better).items() if path in changed})
        self.assertEqual({'no change'}, set(outcomes('--config', high).values()))

    def test_wrong_points(self):
        base, other = self.write('old.txt', experiment(BEFORE, 1)), self.write('one.perf', profile({'a': 1}))
        self.assertFails(run('compare', '--at', 'p=3', base, base), 2, "no parameter 'p'")
        self.assertFails(run('compare', '--at', 'n=1..8', base, base), 2, 'one point')
        self.assertFails(run('compare', '--at', 'n=8', other, other), 2, 'same parameters')


if __name__ == '__main__':
    main()
