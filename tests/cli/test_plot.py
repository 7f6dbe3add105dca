"""assay model --plot: pictures of models on a terminal and as SVG."""
import xml.etree.ElementTree as ET

from common import Case, environment, main, run, run_on_terminal

SVG = '{http://www.w3.org/2000/svg}'
UTF8 = environment(LC_ALL='C.UTF-8')
PLAIN = environment(LC_ALL='C')


def experiment(parameters, points, call_paths):
    """A text file with one metric; call_paths: name -> function of a point, three repetitions around it."""
    lines = [f'PARAMETER {p}' for p in parameters]
    lines.append('POINTS ' + ' '.join('(' + ' '.join(map(str, p)) + ')' for p in points))
    lines.append('METRIC time')
    for name, f in call_paths.items():
        lines.append(f'REGION {name}')
        lines += ['DATA ' + ' '.join(str(f(*p) * k) for k in (0.98, 1, 1.02)) for p in points]
    return '\n'.join(lines) + '\n'


def line(points, **call_paths):
    return experiment(['p'], [(x,) for x in points], call_paths)


ONE = experiment(['p'], [(x,) for x in (4, 8, 16, 32, 64)], {'main->sort': lambda p: 3 + 2 * p, 'main->join': lambda p: 5 * p * p, 'main->io->sort': lambda p: 7})
TWO = experiment(['p', 'n'], [(p, n) for p in (4, 8, 16, 32, 64) for n in (10, 20, 30, 40, 50)], {'main': lambda p, n: 2 + p * n})
THREE = experiment(['p', 'n', 'm'], [(p, n, m) for p in (1, 2, 3, 4, 5) for n in (10, 20, 30, 40, 50) for m in (1, 2, 3, 4, 5)],
                   {'main': lambda p, n, m: p * n + m})


def classes(root, name):
    return [e for e in root.iter() if e.get('class') == name]


def all_text(root):
    return ''.join(''.join(e.itertext()) + '\n' for e in root.iter(SVG + 'text'))


class Svg(Case):
    def draw(self, text, *args):
        path = self.write('e.txt', text)
        self.assertFine(run('model', path, '-o', self.path('plot.svg'), *args))
        return ET.fromstring(self.read('plot.svg'))

    def test_a_line(self):
        root = self.draw(ONE, '--plot', 'main->join')
        self.assertEqual(SVG + 'svg', root.tag)
        self.assertEqual('main->join', root.find(SVG + 'title').text)
        self.assertTrue(root.get('viewBox').startswith('0 0 420 '))
        points = classes(root, 'points')[0].findall(SVG + 'circle')
        self.assertEqual(5, len(points))
        self.assertEqual(['4: 80', '8: 320', '16: 1280', '32: 5120', '64: 20480'], [c.find(SVG + 'title').text for c in points])
        # Both axes are logarithmic: the points lie on a straight line, evenly spread
        xs, ys = ([float(c.get(k)) for c in points] for k in ('cx', 'cy'))
        for v in (xs, ys):
            for a, b, c in zip(v, v[1:], v[2:]):
                self.assertAlmostEqual(b - a, c - b, delta=0.05)
        self.assertEqual(2, len(classes(root, 'curve')))
        self.assertEqual(1, len(classes(root, 'marker')))
        text = all_text(root)
        for word in ('f(p) = ', '5 · p2', 'mean of 3 repetitions', 'adjusted R2 1', 'time', '128', 'measured', 'min–max'):
            self.assertIn(word, text)

    def test_scripts_and_fonts_stay_out(self):
        self.draw(ONE, '--plot', 'main->join')
        text = self.read('plot.svg').decode()
        for word in ('<script', 'href', 'url(', '<style', 'nan', 'id='):
            self.assertNotIn(word, text)

    def test_same_bytes_again(self):
        self.draw(TWO, '--plot', 'main')
        first = self.read('plot.svg')
        self.draw(TWO, '--plot', 'main', '--threads', '1')
        self.assertEqual(first, self.read('plot.svg'))
        self.assertLess(len(first), 200000)

    def test_names_are_escaped(self):
        name = 'a<b>&"c\'->]]>'
        root = self.draw(experiment(['p<&'], [(x,) for x in (1, 2, 3, 4, 5)], {name: lambda p: p}), '--plot', name)
        self.assertEqual(name, root.find(SVG + 'title').text)
        self.assertIn('p<&', all_text(root))

    def test_a_heat_map(self):
        root = self.draw(TWO, '--plot', 'main')
        self.assertEqual(25, len(classes(root, 'points')[0].findall(SVG + 'circle')))
        self.assertEqual(1, len(classes(root, 'surface')))
        self.assertGreaterEqual(len(classes(root, 'contour')), 4)
        self.assertEqual(64, len(classes(root, 'colours')[0].findall(SVG + 'rect')))
        self.assertEqual([], classes(root, 'curve'))
        self.assertEqual([], classes(root, 'marker'))
        root = self.draw(TWO, '--plot', 'main', '--at', 'p=128,n=100')
        self.assertEqual(1, len(classes(root, 'marker')))

    def test_one_of_several_parameters(self):
        root = self.draw(THREE, '--plot', 'main')
        self.assertIn('n = 50, m = 5', all_text(root))
        titles = [c.find(SVG + 'title').text for c in classes(root, 'points')[0].findall(SVG + 'circle')]
        self.assertEqual(['1: 55', '2: 105', '3: 155', '4: 205', '5: 255'], titles)
        root = self.draw(THREE, '--plot', 'main', '--over', 'n', '--fix', 'm=2')
        self.assertIn('p = 5, m = 2', all_text(root))
        titles = [c.find(SVG + 'title').text for c in classes(root, 'points')[0].findall(SVG + 'circle')]
        self.assertEqual(['10: 52', '20: 102', '30: 152', '40: 202', '50: 252'], titles)

    def test_two_of_three_parameters(self):
        for args in (['--fix', 'n=20'], ['--over', 'p,m', '--fix', 'n=20']):
            root = self.draw(THREE, '--plot', 'main', *args)
            self.assertIn('n = 20', all_text(root))
            self.assertEqual(25, len(classes(root, 'points')[0].findall(SVG + 'circle')))
            self.assertEqual(1, len(classes(root, 'surface')))

    def test_where_nothing_was_measured(self):
        path = self.write('e.txt', TWO)
        result = run('model', path, '--plot', 'main', '--fix', 'n=25', '-o', self.path('p.svg'))
        self.assertEqual(0, result.status)
        self.assertOneLine(result, 'nothing was measured')
        self.assertEqual([], classes(ET.fromstring(self.read('p.svg')), 'points')[0].findall(SVG + 'circle'))

    def test_segments_have_a_gap(self):
        text = line((2, 4, 6, 8, 10, 20, 22, 24, 26, 28), main=lambda p: p if p < 15 else 1000 + 3 * p * p)
        root = self.draw(text, '--plot', 'main', '--modeler', 'segmented')
        self.assertEqual(2, classes(root, 'curve')[0].get('d').count('M'))

    def test_the_axis_goes_to_the_point_asked_for(self):
        root = self.draw(ONE, '--plot', 'main->join', '--at', 'p=1024')
        self.assertIn('1024', all_text(root))
        self.assertNotIn('2048', all_text(root))


class Terminal(Case):
    def setUp(self):
        super().setUp()
        self.one = self.write('one.txt', ONE)

    def test_braille(self):
        result = run('model', self.one, '--plot', 'main->join', env=UTF8)
        self.assertFine(result)
        lines = result.out.split('\n')
        self.assertEqual('main->join', lines[0])
        self.assertEqual(5 + 1, result.out.count('●'))  # and the legend's
        self.assertTrue(any('\u2800' <= c <= '\u28ff' for c in result.out))
        self.assertIn('f(p) = 5 · p²', result.out)
        self.assertNotIn('\x1b', result.out)
        self.assertLessEqual(max(map(len, lines)), 80)

    def test_ascii(self):
        asked = run('model', self.one, '--plot', 'main->join', '--ascii', env=UTF8)
        self.assertFine(asked)
        self.assertTrue(asked.out.isascii())
        self.assertIn('f(p) = 5 * p^2', asked.out)
        self.assertEqual(asked.out, run('model', self.one, '--plot', 'main->join', env=PLAIN).out)

    def test_widths(self):
        two = self.write('two.txt', TWO)
        for columns in (40, 60, 80, 120, 200):
            for path, name in ((self.one, 'main->join'), (two, 'main')):
                for env in (environment(LC_ALL='C.UTF-8', TERM='dumb'), environment(LC_ALL='C', TERM='dumb')):
                    result = run_on_terminal('model', path, '--plot', name, columns=columns, env=env)
                    self.assertEqual(0, result.status)
                    self.assertLessEqual(max(map(len, result.out.split('\n'))), min(columns, 120))

    def test_colour_on_a_terminal_only(self):
        two = self.write('two.txt', TWO)
        for path, name in ((self.one, 'main->join'), (two, 'main')):
            shown = run_on_terminal('model', path, '--plot', name, env=environment(LC_ALL='C.UTF-8', TERM='xterm'))
            self.assertIn('\x1b[', shown.out)
            self.assertNotIn('\x1b', run('model', path, '--plot', name, env=UTF8).out)

    def test_height(self):
        small = run('model', self.one, '--plot', 'main->join', '--height', '16', env=UTF8).out.count('\n')
        large = run('model', self.one, '--plot', 'main->join', '--height', '40', env=UTF8).out.count('\n')
        self.assertEqual(24, large - small)

    def test_scales(self):
        linear = run('model', self.one, '--plot', 'main->join', '--log', 'none', '--ascii').out
        self.assertIn(' 0 +', linear)
        both = run('model', self.one, '--plot', 'main->join', '--log', 'xy', '--ascii').out
        self.assertEqual(both, run('model', self.one, '--plot', 'main->join', '--ascii').out)
        self.assertNotIn(' 0 +', both)

    def test_no_log_of_zero(self):
        path = self.write('zero.txt', line((0, 1, 2, 3, 4, 5), main=lambda p: 1 + p))
        result = run('model', path, '--plot', 'main', '--log', 'x', '--ascii', '-q')
        self.assertEqual(0, result.status)
        self.assertIn('stays linear', run('model', path, '--plot', 'main', '--log', 'x').err)

    def test_hard_values(self):
        for name, f in {'zero': lambda p: 0, 'equal': lambda p: 7, 'negative': lambda p: -p, 'huge': lambda p: 1e300, 'tiny': lambda p: 1e-300 * p}.items():
            path = self.write(name + '.txt', line((1, 2, 4, 8, 16), main=f))
            for more in ([], ['-o', self.path('p.svg')]):
                result = run('model', path, '--plot', 'main', *more)
                self.assertEqual(0, result.status, result)
            ET.fromstring(self.read('p.svg'))

    def test_few_points(self):
        for n in (1, 2, 3):
            path = self.write('few.txt', line((4, 8, 16)[:n], main=lambda p: p))
            self.assertEqual(0, run('model', path, '--plot', 'main', '-q').status)


class Choosing(Case):
    def setUp(self):
        super().setUp()
        self.one = self.write('one.txt', ONE)

    def test_by_a_part_of_the_path(self):
        for name in ('main->join', 'join', 'joi', 'io->sort', 'io'):
            result = run('model', self.one, '--plot', name, env=UTF8)
            self.assertFine(result)
            self.assertEqual('main->join' if 'joi' in name else 'main->io->sort', result.out.split('\n')[0])

    def test_which_there_are(self):
        self.assertFails(run('model', self.one, '--plot', 'sort'), 2, "2 call paths end in 'sort'", "'main->sort'", "'main->io->sort'")
        self.assertFails(run('model', self.one, '--plot', ''), 2, "'main->sort', 'main->join', 'main->io->sort'")
        self.assertFails(run('model', self.one, '--plot', 'main->jion'), 2, "did you mean 'main->join'?")
        self.assertFails(run('model', self.one, '--plot', 'zzz'), 2, "'main->join'")

    def test_several_metrics(self):
        path = self.write('m.txt', ONE + ONE[ONE.index('METRIC'):].replace('METRIC time', 'METRIC visits'))
        self.assertOneLine(run('model', path, '--plot', 'join'), 'shown is time', '--metric')
        result = run('model', path, '--plot', 'join', '--metric', 'visits', env=UTF8)
        self.assertFine(result)
        self.assertIn('\n visits', result.out)

    def test_wrong_options(self):
        for args, words in ((['--over', 'q'], ["no parameter 'q'"]), (['--fix', 'p=1'], ['holds all parameters']), (['--fix', 'p'], ['--fix cannot be']),
                            (['--fix', 'p=x'], ['--fix cannot be']), (['--over', 'p', '--fix', 'p=3'], ['cannot vary']), (['--over', 'p,p'], ['cannot vary']),
                            (['--log', 'z'], ['--log']), (['--at', 'q=1'], ["q"]), (['--height', 'tall'], ['--height']), (['--json'], ['--json']),
                            (['-o', self.path('p.png')], ['.svg'])):
            self.assertFails(run('model', self.one, '--plot', 'main->join', *args), 2, *words)
        self.assertFails(run('model', self.one, '-o', self.path('p.svg')), 2, '--plot')
        self.assertFails(run('model', self.one, '--over', 'p'), 2, '--plot')
        self.assertEqual(['one.txt'], self.files())


if __name__ == '__main__':
    main()
