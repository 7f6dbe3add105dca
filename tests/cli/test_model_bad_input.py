"""Bad input to model, predict and suggest: every combination ends at once with an answer or one clear line, and harms no other call path."""
import contextlib
import json
import os
import sqlite3
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from common import Case, main, run

P = [1, 2, 4, 8, 16, 32]
LINE = [2 + 3 * p for p in P]


def text(regions, points=P, parameters=('p',)):
    """An Extra-P text file; regions: {call path: its value at each point}."""
    lines = [f'PARAMETER {name}' for name in parameters] + ['POINTS ' + ' '.join(map(str, points)), 'METRIC time']
    for name, values in regions.items():
        lines += [f'REGION {name}'] + [f'DATA {value}' for value in values]
    return '\n'.join(lines) + '\n'


def records(rows):
    """JSON Lines of (parameters, call path, metric, value)."""
    return ''.join(json.dumps(dict(params=a, callpath=c, metric=m, value=v)) + '\n' for a, c, m, v in rows)


def cross(n):
    """n parameters, five points along each of them."""
    points = [[1] * n]
    for k in range(n):
        points += [[v if i == k else 1 for i in range(n)] for v in (2, 4, 8, 16)]
    return text({'main': [sum(q) for q in points]}, ['(' + ' '.join(map(str, q)) + ')' for q in points], [f'p{i}' for i in range(n)])


NAMES = ['', '->', '->->', 'a\tb', 'a\nb', '"q\'', 'ünï→', 'a->', '->b', ' ', 'x' * 10000, '{callpath}', '<svg>&"', '\x1b[31m', '%s%n']

HARD = {
    'one.txt': text({'main': LINE[:1]}, P[:1]),
    'two.txt': text({'main': LINE[:2]}, P[:2]),
    'three.txt': text({'main': LINE[:3]}, P[:3]),
    'four.txt': text({'main': LINE[:4]}, P[:4]),
    'equal.txt': text({'main': [7] * 6}),
    'zero.txt': text({'main': [0] * 6}),
    'negative.txt': text({'main': [-v for v in LINE]}),
    'signs.txt': text({'main': [-1, 1, -1, 1, -1, 1]}),
    'nan.txt': text({'main': ['nan'] * 6}),
    'inf.txt': text({'main': ['inf', '-inf', 1, 2, 3, 4]}),
    'huge.txt': text({'main': [1e300 * p for p in P]}),
    'largest.txt': text({'main': [1.7e308] * 6}),
    'tiny.txt': text({'main': [1e-300 * p for p in P]}),
    'denormal.txt': text({'main': [5e-324 * p for p in P]}),
    'scales.txt': text({'main': [1e-300, 1e300, 1, 1e-10, 1e10, 0]}),
    'below one.txt': text({'main': LINE}, [0.1, 0.5, 0.7, 1, 2, 3]),
    'from zero.txt': text({'main': LINE}, [0, 1, 2, 3, 4, 5]),
    'below zero.txt': text({'main': LINE}, [-6, -5, -4, -3, -2, -1]),
    'same point.txt': text({'main': LINE}, [4] * 6),
    'two values.txt': text({'main': LINE}, [4, 4, 4, 8, 8, 8]),
    'far.txt': text({'main': LINE}, [1e300, 1e301, 1e302, 1e303, 1e304, 1e308]),
    'near.txt': text({'main': LINE}, [1, 1 + 1e-15, 1 + 2e-15, 1 + 1e-14, 1 + 1e-13, 2]),
    'diagonal.txt': text({'main': LINE}, [f'({p} {p})' for p in P], ['p', 'n']),
    'fixed.txt': text({'main': LINE}, [f'({p} 7)' for p in P], ['p', 'n']),
    '12.txt': cross(12),
    '70.txt': cross(70),
    'names.jsonl': records([({'p': p}, n, m, 2 * p) for p in P for n in NAMES + ['main'] for m in ('time', 'a"<&>\n', '')]),
    'deep.jsonl': records([({'p': p}, 'main' + '->f' * 3000, 'time', p) for p in P]),
    'parameter.jsonl': records([({'a b\n"<=,': p}, 'main', 'time', p) for p in P]),
}


class BadInput(Case):
    def ask(self, *args):
        result = run(*args)
        self.assertIn(result.status, (0, 2, 3), (args, result))
        self.assertNotIn('Sanitizer', result.err, args)
        self.assertNotIn('runtime error', result.err, args)
        complaints = [line for line in result.err.splitlines() if not line.startswith('assay: note: ')]
        self.assertEqual(1 if result.status else 0, len(complaints), (args, result))
        if result.status:
            self.assertEqual('', result.out, args)
        return result

    def test_every_answer_to_hard_input(self):
        for name, content in HARD.items():
            f = self.write(name, content)
            names = [p if isinstance(p, str) else p['name'] for p in json.loads(run('info', '--json', f).out)['parameters']]
            for shape in ([], ['--csv'], ['--md', '--measure', 'median'], ['--sort', 'value'], ['--min-share', '1'], ['--scaling', 'strong'],
                          ['--plot', 'main'], ['--plot', 'main', '--ascii'], ['--print', 'all'], ['--print', 'all-latex'], ['--why', 'main']):
                with self.subTest(name, shape=shape):
                    self.ask('model', f, *shape)
            for value in ('64', '0', '-1', '1e308'):
                at = ','.join(f'{n}={value}' for n in names)
                with self.subTest(name, at=value):
                    json.loads(self.ask('predict', f, '--json', '--at', at).out)
            with self.subTest(name, verb='suggest'):
                self.ask('suggest', f, '--budget', '1000', '--processes', '1')
            modelers = ('basic', 'refining', 'segmented')
            given = [['--modeler', m] for m in modelers] if len(names) == 1 else [['-O', f'single_parameter_modeler={m}'] for m in modelers]
            for one in given:
                with self.subTest(name, modeler=one):
                    json.loads(self.ask('model', f, '--json', *one).out)

    def test_files_of_hard_input(self):
        for name, content in HARD.items():
            f = self.write(name, content)
            for ending in ('extra-p', 'sqlite', 'svg'):
                with self.subTest(name, ending=ending):
                    first, second = f'1.{ending}', f'2.{ending}'
                    more = ['--plot', 'main'] if ending == 'svg' else []
                    for out in (first, second):
                        status = self.ask('model', f, *more, '-o', self.path(out)).status
                        self.assertEqual(0, status)
                    if ending == 'sqlite':
                        with contextlib.closing(sqlite3.connect(self.path(first))) as base:
                            self.assertGreater(base.execute('SELECT count(*) FROM model').fetchone()[0], 0)
                    elif status == 0:
                        self.assertEqual(self.read(first), self.read(second))
                    if ending == 'extra-p':
                        self.assertEqual(0, run('info', self.path(first)).status)

    def test_others_are_unharmed(self):
        alone = run('model', '--json', self.write('alone.txt', text({'good': LINE}))).json['models'][0]
        for values in (['nan'] * 6, ['inf'] * 6, [1.7e308, -1.7e308] * 3, [0] * 6, [-5] * 6):
            f = self.write('both.txt', text({'bad': values, 'good': LINE}))
            found = {m['callpath']: m for m in run('model', '--json', f).json['models']}
            self.assertEqual(alone, found['good'])

    def test_call_paths_without_a_value_are_no_part_of_the_total(self):
        f = self.write('a.txt', text({'bad': ['nan'] * 6, 'worse': ['inf'] * 6, 'good': LINE, 'flat': [6] * 6}))
        result = run('predict', '--json', f, '--at', '64')
        self.assertIn('2 call paths have no finite value and are no part of the total', result.err)
        rows = {r['callpath']: r for r in result.json}
        self.assertAlmostEqual(200, rows[None]['value'], 6)
        self.assertAlmostEqual(0.97, rows['good']['share'], 9)
        self.assertIsNone(rows['bad']['share'])
        nothing = run('predict', '--json', self.write('b.txt', text({'bad': ['nan'] * 6})), '--at', '64')
        self.assertEqual(('nan', None), (nothing.json[0]['value'], nothing.json[0]['share']))

    def test_points_before_the_models(self):
        f = self.write('a.txt', text({'bad': ['nan'] * 6, 'good': LINE}))
        for at, words in (('q=3', "no parameter 'q'"), ('p=nan', "finite number, not 'nan'"), ('p=', 'a number is missing'), ('', "'' is no point"),
                          ('p=one', "a number, not 'one'"), ('p=1,p=2', "twice to parameter 'p'"), ('p=1..8', 'takes one point')):
            for sort in ([], ['--sort', 'value']):
                with self.subTest(at):
                    self.assertFails(run('model', f, '--at', at, *sort), 2, words)

    def test_how_far_outside(self):
        for values, at, words in (([-6, -5, -4, -3, -2, -1], '64', 'p=64 is above the largest measured value, -1'), (P, '0', 'p=0 is below the smallest measured value, 1'),
                                  (P, '64', 'p=64 is 2 times the largest measured value, 32')):
            f = self.write('a.txt', text({'main': LINE}, values))
            self.assertIn(words, run('predict', f, '--at', at).err)
            self.assertNotIn('inf', run('model', f, '--at', at).err)

    def test_lists_of_exponents(self):
        f = self.write('a.txt', text({'main': LINE}))
        for key in ('poly_exponents', 'log_exponents'):
            for given, word in (('1,foo,2', 'foo'), ('nan', 'nan'), ('1/0', '1/0'), ('1,1e999', '1e999'), ('2 3', '2 3')):
                with self.subTest(key, given=given):
                    self.assertFails(run('model', f, '-O', f'{key}={given}'), 2, f"the option {key} cannot have '{word}'")
            for given in ('', '1,,2', '1, 2', '1e308', '-1e308', '0', '-1,-2', ','.join(str(i / 1000) for i in range(10000))):
                with self.subTest(key, given=given[:20]):
                    self.ask('model', f, '-O', f'{key}={given}')
        many = ','.join(str(i) for i in range(200))
        self.assertFails(run('model', f, '-O', f'poly_exponents={many}', '-O', f'log_exponents={many}'), 2, '200 entries of poly_exponents', 'more than 20000 pairs')

    def test_no_logarithms_at_one_with_negative_exponents(self):
        f = self.write('a.txt', text({'main': LINE}))
        self.assertNotIn('logarithms', run('model', f).err)
        self.assertIn('without logarithms: a parameter has values too small', run('model', f, '-O', 'allow_negative_exponents=yes').err)

    def test_lists_of_missing_points_end(self):
        rows = [({'p': 5 * c + k + 1}, f'c{c}', 'time', k + 1.5) for c in range(400) for k in range(5)]
        model = run('model', '--json', '-q', self.write('a.jsonl', records(rows))).json['models'][0]
        self.assertEqual((1000, 1995, '(6)'), (len(model['missing']), model['missing_count'], model['missing'][0]))

    def test_share_in_words(self):
        f = self.write('a.txt', text({'a': [1] * 6, 'b': [1] * 6}))
        for given in ('60', '60%'):
            self.assertFails(run('model', f, '--min-share', given), 2, 'no call path makes up 60 % of its metric')

    def test_a_metric_without_measurements(self):
        f = self.write('a.txt', text({'main': LINE}) + 'METRIC other\n')
        for verb, *more in (('model',), ('model', '--why', 'main'), ('predict', '--at', 'p=64'), ('suggest', '--budget', '1')):
            self.assertFails(run(verb, *more, f, '--metric', 'other'), 2, 'has no measurements')
        self.assertEqual(0, run('model', f).status)

    def test_an_earlier_file_stays(self):
        kept = self.write('kept.extra-p', 'precious')
        f = self.write('a.txt', text({'main': LINE}))
        for args in ((self.path('none.txt'),), (f, '--at', 'q=1'), (f, '--match', '('), (f, '--metric', 'none'), (f, '-O', 'poly_exponents=x')):
            self.assertNotEqual(0, run('model', *args, '-o', kept).status)
            self.assertEqual(b'precious', self.read('kept.extra-p'))


if __name__ == '__main__':
    main()
