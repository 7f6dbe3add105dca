"""Callgrind profiles: read with a decoder made from the description of the format, compared with `tree --flat`; callgrind_annotate reads them too."""
import collections
import os
import re
import shutil
import subprocess
import unittest

from common import Case, main, run
from protobuf import Maker

EXAMPLES = os.path.join(os.environ.get('ASSAY_SOURCE', '.'), 'examples')


class Decoded:
    """Self costs of functions and inclusive costs of calls, by names."""

    def __init__(self, text):
        names = collections.defaultdict(dict)
        self.own, self.calls = collections.defaultdict(list), {}
        self.lines, self.counts = collections.defaultdict(dict), {}
        function = callee = None
        pending = None
        lines = text.split('\n')
        assert lines[0] == '# callgrind format'
        self.totals = None

        def name_of(kind, value):
            number, name = re.fullmatch(r'\((\d+)\)(?: (.*))?', value).groups()
            if name is not None:
                assert number not in names[kind]
                names[kind][number] = name
            return names[kind][number]

        for line in lines:
            key, _, value = line.partition('=')
            if line.startswith('events:'):
                self.events = line.split()[1:]
            elif line.startswith(('summary:', 'totals:')):
                numbers = [int(n) for n in line.split()[1:]]
                assert self.totals in (None, numbers)
                self.totals = numbers
            elif key in ('ob', 'cob'):
                name_of('ob', value)
            elif key in ('fl', 'cfi'):
                name_of('fl', value)
            elif key == 'fn':
                function = name_of('fn', value)
            elif key == 'cfn':
                callee = name_of('fn', value)
            elif key == 'calls':
                pending = int(value.split()[0])
            elif re.match(r'\d', line):
                position, *costs = [int(n) for n in line.split()]
                costs += [0] * (len(self.events) - len(costs))
                if pending is None:
                    self.own[function] = self.sum(self.own[function], costs)
                    self.lines[function][position] = costs
                else:
                    edge = (function, callee)
                    self.calls[edge] = self.sum(self.calls.get(edge, []), costs)
                    self.counts[edge] = self.counts.get(edge, 0) + pending
                    pending = None

    @staticmethod
    def sum(a, b):
        return [x + y for x, y in zip(a or [0] * len(b), b)]


class Callgrind(Case):
    def decoded(self, source):
        result = run('convert', source, '-o', self.path('out.callgrind'))
        self.assertEqual(0, result.status, result)
        return Decoded(self.read('out.callgrind').decode())

    def test_names_as_valgrind_gives_them_are_known(self):
        """Endings of other formats stay theirs."""
        source = self.write('a.folded', b'main;f 3\n')
        for name in ('callgrind.out.123', 'callgrind.out.123.4-02', 'callgrind.out.before', 'callgrind.out'):
            self.assertEqual(0, run('convert', source, self.path(name)).status, name)
            self.assertIn('# callgrind format', self.read(name).decode())
        self.assertEqual(0, run('convert', source, self.path('callgrind.out.5.folded')).status)
        self.assertEqual(b'main;f 3\n', self.read('callgrind.out.5.folded'))

    def flat(self, source):
        result = run('tree', source, '--by', 'region', '--json', '--all')
        self.assertFine(result)
        return {node['name']: node['values'] for node in result.json['root']['children']}

    def test_cube(self):
        source = os.path.join(EXAMPLES, 'heat.cubex')
        found, flat = self.decoded(source), self.flat(source)
        self.assertEqual(['time', 'visits', 'bytes_sent', 'bytes_received'], found.events)
        self.assertEqual(set(flat), set(found.own) | {callee for _, callee in found.calls})
        called = collections.defaultdict(lambda: [0] * 4)
        for (_, callee), costs in found.calls.items():
            called[callee] = Decoded.sum(called[callee], costs)
        for name, values in flat.items():
            for k, metric in enumerate(found.events):
                factor, delta = (1e9, 50) if metric == 'time' else (1, 0)
                own = found.own.get(name, [0] * 4)[k]
                self.assertAlmostEqual(values[metric]['exclusive'] * factor, own, delta=delta, msg=(name, metric))
                if name in called:
                    self.assertAlmostEqual(values[metric]['inclusive'] * factor, called[name][k], delta=delta, msg=(name, metric))
        self.assertEqual(sum(costs[0] for costs in found.own.values()), found.totals[0])
        visits = {name: sum(n for (_, callee), n in found.counts.items() if callee == name) for name in called}
        self.assertEqual({name: flat[name]['visits']['exclusive'] for name in called}, visits)

    def recursive(self):
        """main -> f -> f -> g -> f, of 1, 2, 4, 8 and 16."""
        m = Maker(('cost', 'count')).function(1, 'main', 'm.c', 1).function(2, 'f', 'm.c', 10).function(3, 'g', 'm.c', 20)
        m.location(1, (1, 2)).location(2, (2, 11)).location(3, (3, 21))
        m.sample([1], [1]).sample([2, 1], [2]).sample([2, 2, 1], [4]).sample([3, 2, 2, 1], [8]).sample([2, 3, 2, 2, 1], [16])
        return self.write('r.pprof', m.bytes())

    def test_functions_that_call_themselves(self):
        found = self.decoded(self.recursive())
        self.assertEqual({'main': [1], 'f': [22], 'g': [8]}, dict(found.own))
        self.assertEqual({('main', 'f'): [30], ('f', 'f'): [28], ('f', 'g'): [24], ('g', 'f'): [16]}, found.calls)
        self.assertEqual([31], found.totals)

    def test_lines_are_those_of_functions(self):
        source = self.recursive()
        result = run('convert', source, '-O', 'lines=yes', '-o', self.path('out.callgrind'))
        self.assertEqual(0, result.status, result)
        found = Decoded(self.read('out.callgrind').decode())
        self.assertEqual({'main': {2: [1]}, 'f': {11: [22]}, 'g': {21: [8]}}, dict(found.lines))

    def test_below_zero_is_said(self):
        m = Maker(('cost', 'count')).function(1, 'f').location(1, (1, 0)).sample([1], [-3])
        result = run('convert', self.write('n.pprof', m.bytes()), '-o', self.path('out.callgrind'))
        self.assertIn('1 cost below 0', result.err)

    def test_names_that_would_break_lines(self):
        m = Maker(('a b', 'count'), ('a-b', 'count'), ('9', 'count')).function(1, 'f\ncalls=1 2').location(1, (1, 0)).sample([1], [3, 4, 5])
        m.add(14, m.text('a b'))  # what is shown first comes first
        found = self.decoded(self.write('n.pprof', m.bytes()))
        self.assertEqual(['a_b', 'a_b_2', 'e9'], found.events)
        self.assertIn('desc: Event 1: a b [count]', self.read('out.callgrind').decode().split('\n'))
        self.assertEqual({'f calls=1 2': [3, 4, 5]}, dict(found.own))

    def test_words_of_metrics_that_would_break_lines(self):
        m = Maker(('a\nfn=(7) x', 'u\n5 5')).function(1, 'f').location(1, (1, 0)).sample([1], [3])
        found = self.decoded(self.write('n.pprof', m.bytes()))
        self.assertEqual({'f': [3]}, dict(found.own))

    def test_blank_names(self):
        """A number with nothing behind it would be one that nobody has named."""
        m = Maker(('a', 'count')).function(1, '', '').function(2, ' ', ' ').location(1, (1, 0)).location(2, (2, 0)).sample([1, 2], [3])
        self.decoded(self.write('n.pprof', m.bytes()))
        lines = self.read('out.callgrind').decode().split('\n')
        names = [line for line in lines if re.match(r'c?(ob|fl|fi|fn)=', line)]
        self.assertIn('fn=(1) ???', names)
        self.assertEqual([], [line for line in names if re.fullmatch(r'\w+=\(\d+\)\s+', line)])

    def test_what_lines_cannot_have_is_said(self):
        m = Maker(('a', 'count'), ('b', 'count')).function(1, 'f\x01').function(2, ' ', ' ').function(3, 'g h').location(1, (1, 0)).location(2, (2, 0)).location(3, (3, 0))
        m.sample([1, 2], [2**63 - 1, 1]).sample([3], [1, 1]).add(14, m.text('a'))
        found = self.decoded(self.write('n.pprof', m.bytes()))
        self.assertEqual({'f ': [2**63 - 1, 1], 'g h': [1, 1]}, dict(found.own))
        told = run('convert', self.path('n.pprof'), '-o', self.path('out.callgrind')).err
        self.assertIn('control characters and blank names, of 2 (', told)
        self.assertIn('sums of a beyond 64 bits', told)
        self.assertNotIn('sums of b', told)
        tiny = run('convert', self.write('tiny.folded', b'main;f 1e-300\nmain;g 1.5\n'), '-o', self.path('out.callgrind')).err
        self.assertIn('parts of samples below one of millionths', tiny)

    def test_metrics_beyond_those_that_are_taken(self):
        m = Maker(*[('m%d' % i, 'count') for i in range(203)]).function(1, 'f').function(2, 'g').location(1, (1, 0)).location(2, (2, 0))
        m.sample([1], list(range(1, 204))).sample([2, 1], list(range(1001, 1204))).add(14, m.text('m0'))
        result = run('convert', self.write('n.pprof', m.bytes()), '-o', self.path('out.callgrind'))
        self.assertIn('3 metrics beyond the 200 that KCachegrind takes', result.err)
        found = Decoded(self.read('out.callgrind').decode())
        self.assertEqual(['m%d' % i for i in range(200)], found.events)
        self.assertEqual(list(range(1, 201)), found.own['f'])
        self.assertEqual(list(range(1001, 1201)), found.calls['f', 'g'])

    @unittest.skipUnless(shutil.which('callgrind_annotate'), 'callgrind_annotate is not installed (Debian: valgrind)')
    def test_callgrind_annotate(self):
        for source, total in ((self.recursive(), '31'), (os.path.join(EXAMPLES, 'heat.cubex'), None)):
            self.decoded(source)
            answer = subprocess.run(['callgrind_annotate', '--inclusive=yes', '--auto=no', '--threshold=100', self.path('out.callgrind')], capture_output=True, text=True)
            self.assertEqual(0, answer.returncode, answer.stderr)
            self.assertIn('PROGRAM TOTALS', answer.stdout)
            if total:
                self.assertRegex(answer.stdout, r'31 \(100\.0%\)  PROGRAM TOTALS')
                self.assertRegex(answer.stdout, r'31 \(100\.0%\)  m\.c:main')


if __name__ == '__main__':
    main()
