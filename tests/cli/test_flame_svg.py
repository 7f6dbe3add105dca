"""assay flame -o x.svg and --diff: what stands in the picture, against widths and changes worked out by hand."""
import json
import os
import random
import re
import xml.etree.ElementTree as ElementTree

from common import Case, environment, main, run

SVG = '{http://www.w3.org/2000/svg}'
EXAMPLES = os.path.join(os.environ.get('ASSAY_SOURCE', '.'), 'examples')
HEAT, HEAT_2 = (os.path.join(EXAMPLES, name) for name in ('heat.cubex', 'heat-2.cubex'))
WIDTH = 1020  # of the page: 1000 for the frames, 10 on either side


def stacks(unit='s', **amounts):
    """A Perun profile with these stacks: a__b=3 is a;b with 3 (names with other letters: pass them in a dict)."""
    return profile({name.replace('__', ';'): amount for name, amount in amounts.items()}, unit)


def profile(amounts, unit='s'):
    names = {}
    for i, path in enumerate(amounts):
        *trace, leaf = path.split(';')
        names[f'r#{i}'] = {'uid': leaf, 'type': 'time', 'trace': [{'func': frame} for frame in trace]}
    return json.dumps({'header': {'type': 'time', 'units': {'time': unit}}, 'models': [], 'resource_type_map': names,
                       'resources': {f'r#{i}': {'amount': [amount]} for i, amount in enumerate(amounts.values())}})


class Frame:
    def __init__(self, group):
        rect = group.find(SVG + 'rect')
        self.name, *self.facts = group.find(SVG + 'title').text.split('\n')
        self.x, self.y, self.width = (float(rect.get(key)) for key in ('x', 'y', 'width'))
        text = group.find(SVG + 'text')
        self.text = None if text is None else text.text
        self.classes = group.get('class').split()

    def __repr__(self):
        return f'{self.name} {self.x} {self.y} {self.width} {self.classes}'


class Picture:
    def __init__(self, text):
        self.text = text
        self.root = ElementTree.fromstring(text)
        self.plot = next(g for g in self.root.iter(SVG + 'g') if g.get('class') == 'frames')
        self.frames = [Frame(group) for group in self.plot]
        self.notes = [t.text for t in self.root.iter(SVG + 'text') if t.get('class') == 'note']

    def __getitem__(self, name):
        found = [frame for frame in self.frames if frame.name == name]
        assert len(found) == 1, f'{name}: {self.frames}'
        return found[0]


class FlameSvg(Case):
    def picture(self, *args):
        out = self.path('picture.svg')
        result = run('flame', '--quiet', '--width', WIDTH, '-o', out, *args)
        self.assertFine(result)
        self.assertEqual('', result.out)
        with open(out, encoding='utf-8', newline='') as f:
            return Picture(f.read())

    def test_widths_are_amounts(self):
        path = self.write('a.perf', stacks(main__a=6, main__b=3, main=1))
        p = self.picture(path)
        self.assertEqual(['all, 10.00 s', 'main', 'a', 'b'], [frame.name for frame in p.frames])
        self.assertEqual([(10, 1000), (10, 1000), (10, 600), (610, 300)], [(f.x, f.width) for f in p.frames])
        self.assertEqual([58, 76, 94, 94], [f.y for f in p.frames])
        self.assertEqual(['6.000 s, 60.0 % of all, 60.0 % of its caller'], p['a'].facts)
        self.assertEqual(['10.00 s, 100.0 % of all', '1.000 s itself'], p['main'].facts)
        self.assertEqual('main', p['main'].text)
        self.assertEqual((str(WIDTH), f'0 0 {WIDTH} {p.root.get("height")}'), (p.root.get('width'), p.root.get('viewBox')))

    def test_whole_amounts_have_no_decimals_whatever_their_type(self):
        p = self.picture(self.write('a.perf', stacks('calls', main__a=2000.5, main__b=6000)))
        self.assertEqual('all, 8,000.5 calls', p.frames[0].name)
        self.assertEqual('2,000.5 calls', p['a'].facts[0].split(', 25.0 %')[0])
        self.assertEqual('6,000 calls', p['b'].facts[0].split(', 75.0 %')[0])

    def test_the_widest_come_first(self):
        p = self.picture(self.write('a.perf', stacks(m__a=1, m__b=5, m__c=3, m__d=1)))
        self.assertEqual(['m', 'b', 'c', 'a', 'd'], [f.name for f in p.frames[1:]])

    def test_flames_grow_from_the_bottom(self):
        path = self.write('a.perf', stacks(main__a=6, main__b=3))
        p = self.picture(path, '--flames')
        self.assertEqual([94, 76, 58, 58], [f.y for f in p.frames])
        self.assertEqual('up', p.plot.get('data-grows'))
        self.assertEqual(self.picture(path).text, self.picture(path, '--icicle').text)

    def test_inverted(self):
        """x was called by a and b, b also ends a stack: 7 in all."""
        p = self.picture(self.write('a.perf', stacks(main__a__x=4, main__b__x=2, main__b=1)), '--inverted')
        got = [(f.name, f.y, round(f.width * 7 / 1000, 3), round((f.x - 10) * 7 / 1000, 3)) for f in p.frames[1:]]
        self.assertEqual([('x', 76, 6, 0), ('a', 94, 4, 0), ('main', 112, 4, 0), ('b', 94, 2, 4), ('main', 112, 2, 4), ('b', 76, 1, 6), ('main', 94, 1, 6)], got)

    def test_children_lie_within_their_parents(self):
        """Also of real call trees, of each format, whichever way they are drawn."""
        for name in ('heat.cubex', 'heat-hpctoolkit', 'waves-extra-prof', 'simulation.afperf', 'sort-1.perf', 'kernels.txt'):
            for more in ((), ('--inverted',)):
                p = self.picture(os.path.join(EXAMPLES, name), *more)
                open_frames, ends = [], {}
                self.assertGreater(len(p.frames), 3, name)
                for f in p.frames:
                    depth = round((f.y - 58) / 18)
                    del open_frames[depth:]
                    self.assertEqual(depth, len(open_frames), f)
                    if open_frames:
                        parent = open_frames[-1]
                        self.assertGreaterEqual(f.x, ends.get(id(parent), parent.x) - 1e-3)
                        self.assertLessEqual(f.x + f.width, parent.x + parent.width + 1e-3)
                        ends[id(parent)] = f.x + f.width
                    open_frames.append(f)

    def test_text_stays_in_its_box(self):
        names = {'main;' + 'long' * 60: 500, 'main;日本語' + '字' * 80: 300, 'main;short': 100, 'main;none': 9}
        p = self.picture(self.write('a.perf', profile(names)))
        for f in p.frames:
            wide = sum(2 if ord(letter) > 0x1100 and letter != '…' else 1 for letter in f.text or '')
            self.assertLessEqual(6.62 * wide, f.width - 7 if f.text else 0)
        self.assertTrue(p['long' * 60].text.endswith('…'))
        self.assertIsNone(p['none'].text)
        # 34 pixels: 27 for text, 4 letters; 25 pixels: 2 of them, which say nothing
        p = self.picture(self.write('b.perf', profile({'main;rest': 941, 'main;bounded': 34, 'main;barrier': 25})))
        self.assertEqual(('bou…', None), (p['bounded'].text, p['barrier'].text))

    def test_names_are_text(self):
        odd = ['<script>alert(1)</script>', ']]>', '"\'&amp<!--', 'a\x01\x1b[2Jb', '\u202eevil', 'x' * 100000, '</title></svg>', '\ufffe', '']
        path = self.write('odd.perf', profile({f'main;{name}': 10 + i for i, name in enumerate(odd)}))
        p = self.picture(path, '--title', '<b>&"', '--min-share', '0')
        names = [f.name for f in p.frames]
        for name in odd[:3] + odd[6:7]:
            self.assertIn(name, names)
        self.assertIn('a  [2Jb', names)
        self.assertTrue(any(re.fullmatch('x{900,1000}…', name) for name in names))
        self.assertEqual(1, len(list(p.root.iter(SVG + 'script'))))
        self.assertEqual(1, p.text.count(']]></script>'))
        self.assertEqual('<b>&"', next(t.text for t in p.root.iter(SVG + 'text') if t.get('class') == 'title'))
        self.assertFalse(re.search('[\x00-\x09\x0b-\x1f\x7f]', p.text))

    def test_bytes_that_are_no_utf_8(self):
        path = self.path('bytes.txt')
        with open(path, 'wb') as f:
            f.write(b'PARAMETER p\nPOINTS 1 2\nREGION main->\xff\xfe<x>\nDATA 1\nDATA 2\n')
        result = run('flame', path, '-o', self.path('x.svg'))
        if result.status == 0:
            with open(self.path('x.svg'), 'rb') as f:
                self.assertIn('�', f.read().decode())
        else:
            self.assertEqual((3, 1), (result.status, result.err.count('\n')))
            self.assertFalse(os.path.exists(self.path('x.svg')))

    def test_nothing_is_fetched(self):
        text = self.picture(HEAT).text
        self.assertEqual(['http://www.w3.org/2000/svg'] * 2, re.findall(r'https?://[^"\']*', text))
        self.assertFalse(re.search(r'foreignObject|@import|url\(|<image|<use|href|innerHTML|eval\(', text))

    def test_colours(self):
        by_module = self.picture(os.path.join(EXAMPLES, 'heat-hpctoolkit'))
        one = {f.classes[0] for f in by_module.frames if f.name.startswith('MPI_')}
        other = {f.classes[0] for f in by_module.frames if f.name in ('step', 'residual', 'fill')}
        self.assertEqual((1, 1), (len(one), len(other)))
        self.assertNotEqual(one, other)
        self.assertIn('libmpi.so.40', by_module.notes)
        on_gpu = self.picture(os.path.join(EXAMPLES, 'waves-extra-prof'))
        gpu = [f for f in on_gpu.frames if any(fact.startswith(('kernel', 'memcpy')) for fact in f.facts)]
        self.assertTrue(gpu)
        self.assertEqual({'g'}, {f.classes[0][0] for f in gpu})
        by_name = self.picture(HEAT, '--color-by', 'name')
        self.assertEqual({'w'}, {f.classes[0][0] for f in by_name.frames[1:]})
        self.assertEqual(by_name['stencil'].classes[0], self.picture(HEAT_2, '--color-by', 'name')['stencil'].classes[0])

    def test_every_class_has_a_colour_in_light_and_dark(self):
        for p in (self.picture(HEAT), self.picture('--diff', HEAT, HEAT_2), self.picture(os.path.join(EXAMPLES, 'heat-hpctoolkit'))):
            style = p.root.find(SVG + 'style').text
            for name in {f.classes[0] for f in p.frames}:
                self.assertEqual(2, len(set(re.findall(rf'\.{name}>rect{{fill:(#[0-9a-f]{{6}})}}', style))), name)

    def test_same_bytes(self):
        a = self.picture(os.path.join(EXAMPLES, 'heat-hpctoolkit')).text
        self.assertEqual(a, run('flame', '--svg', '--width', WIDTH, os.path.join(EXAMPLES, 'heat-hpctoolkit')).out)
        self.assertEqual(a, run('flame', '--svg', '--width', WIDTH, os.path.join(EXAMPLES, 'heat-hpctoolkit'), env=environment(LC_ALL='C', TZ='Asia/Tokyo')).out)

    def test_what_cannot_be_seen_is_left_out(self):
        """1000 pixels for 100,000: 4 of them are less than a twentieth of a pixel, 6 are more."""
        path = self.write('a.perf', stacks(main__a=99990, main__b=4, main__c=6))
        p = self.picture(path)
        self.assertEqual(['main', 'a', 'c'], [f.name for f in p.frames[1:]])
        self.assertEqual(['1 frame too narrow to be seen is left out: 0.0 % of the whole lies in it'], p.notes)
        self.assertEqual(['main', 'a', 'c', 'b'], [f.name for f in self.picture(path, '--min-share', '0').frames[1:]])
        p = self.picture(path, '--min-share', '1')
        self.assertEqual(['main', 'a'], [f.name for f in p.frames[1:]])
        self.assertIn('2 frames too narrow', p.notes[0])

    def test_many_stacks_make_no_large_file(self):
        rng = random.Random(7)
        names = [f'function_with_quite_a_long_name_{i}' for i in range(300)]
        amounts = {}
        while len(amounts) < 40000:
            amounts[';'.join(rng.choice(names[:10 + 20 * d]) for d in range(rng.randint(2, 7)))] = rng.expovariate(1)
        path = self.write('many.perf', profile(amounts))
        for more in ((), ('--inverted',)):
            p = self.picture(path, *more)
            self.assertLess(len(p.text.encode()), 3e6)
            self.assertGreater(len(p.frames), 5000)
            found = re.fullmatch(r'[\d,]+ frames too narrow to be seen are left out: (\d+\.\d) % of the whole lies in them', p.notes[-1])
            drawn, path_to = set(), []
            for f in p.frames[1:]:
                del path_to[round((f.y - 58) / 18) - 1:]
                path_to.append(f.name)
                drawn.add(';'.join(path_to[::-1] if more else path_to))
            left = sum(amount for stack, amount in amounts.items() if stack not in drawn) / sum(amounts.values())
            self.assertAlmostEqual(100 * left, float(found[1]), delta=0.06)

    def test_deep_stacks(self):
        depth = 30000
        path = self.write('deep.perf', profile({';'.join(['f'] * depth): 1}))
        p = self.picture(path)
        self.assertGreater(len(p.frames), 5000)
        self.assertLess(len(p.text), 3e6)
        self.assertTrue(all(f.width == 1000 for f in p.frames))

    def test_nothing_to_draw(self):
        p = self.picture(self.write('a.perf', stacks(main__a=0)))
        self.assertEqual(1, len(p.frames))
        self.assertEqual(['There is nothing to draw: no stack has anything.'], p.notes)
        p = self.picture(self.write('b.perf', stacks(main__a=-5, main__b=2)))
        self.assertEqual(['main', 'b'], [f.name for f in p.frames[1:]])
        self.assertEqual(1000, p['b'].width)
        self.assertIn('1 stack with amounts below 0', p.notes[-1])

    def test_titles(self):
        path = self.write('a.perf', stacks(main=1))
        texts = {t.get('class'): t.text for t in self.picture(path).root.iter(SVG + 'text')}
        self.assertEqual((path, "'time' [s]"), (texts['title'], texts['subtitle']))
        small = self.picture(HEAT, '--location', '3')
        self.assertIn('process 3', next(t.text for t in small.root.iter(SVG + 'text') if t.get('class') == 'subtitle'))

    # ---- two files

    def two(self):
        return (self.write('a.perf', stacks(main__a=4, main__old=2)), self.write('b.perf', stacks(main__a=5, main__new=5)))

    def test_diff_folded(self):
        result = run('flame', '--diff', *self.two())
        self.assertFine(result)
        self.assertEqual(['main;a 4 5', 'main;old 2 0', 'main;new 0 5'], result.out.splitlines())

    def test_diff_picture(self):
        """6 s in A, 10 s in B: a +25 %, the whole +66.7 %."""
        p = self.picture('--diff', *self.two())
        self.assertEqual(['main', 'a', 'new'], [f.name for f in p.frames[1:]])
        self.assertEqual([1000, 500, 500], [f.width for f in p.frames[1:]])
        self.assertEqual(['p4', 'p3', 'p4'], [f.classes[0] for f in p.frames[1:]])
        self.assertEqual(['4.000 s → 5.000 s, +1.000 s, +25.0 %'], p['a'].facts)
        self.assertEqual(['6.000 s → 10.00 s, +4.000 s, +66.7 %'], p['main'].facts)
        self.assertEqual(['0 s → 5.000 s, new: +5.000 s'], p['new'].facts)
        gone = p.notes[p.notes.index(next(note for note in p.notes if 'that only' in note)):]
        self.assertRegex(gone[0], r'^1 stack that only .*a\.perf has, with 2\.000 s')
        self.assertEqual('  2.000 s  main;old', gone[1])
        self.assertIn('-50 % and less', p.notes)

    def test_diff_widths(self):
        p = self.picture('--diff', *self.two(), '--width-of', 'a')
        self.assertEqual([('a', 666.6667), ('old', 333.3333)], [(f.name, f.width) for f in p.frames[2:]])
        self.assertEqual('m4', p['old'].classes[0])
        self.assertEqual(['2.000 s → 0 s, gone: -2.000 s, -100.0 %'], p['old'].facts)
        p = self.picture('--diff', *self.two(), '--width-of', 'max')  # 5 + 5 + 2
        self.assertEqual([('a', 416.6667), ('new', 416.6667), ('old', 166.6667)], [(f.name, f.width) for f in p.frames[2:]])
        self.assertFalse(any('that only' in note for note in p.notes))

    def test_diff_normalized(self):
        """A's 6 s become 10 s: a has 4 * 10 / 6 = 6.667 s there, and 25 % less in B."""
        p = self.picture('--diff', *self.two(), '--normalize')
        self.assertEqual(['6.667 s → 5.000 s, -1.667 s, -25.0 %'], p['a'].facts)
        self.assertEqual('m3', p['a'].classes[0])
        self.assertEqual('z0', p['main'].classes[0])

    def test_to_the_letter(self):
        p = self.picture('--diff', self.write('a.perf', stacks(f=100)), self.write('b.perf', stacks(f=150)))
        frames = p.text[p.text.index('<g class="frames"'):p.text.index('<g class="key')]
        self.assertEqual('''<g class="frames" data-left="10" data-row="18" data-grows="down" data-root="58" data-width="1000">
<g class="all b"><title>all, 150.0 s
100.0 s → 150.0 s, +50.00 s, +50.0 %</title><rect x="10" y="58" width="1000" height="17"/><text x="14" y="70.5">all, 150.0 s</text></g>
<g class="p4 b"><title>f
100.0 s → 150.0 s, +50.00 s, +50.0 %</title><rect x="10" y="76" width="1000" height="17"/><text x="14" y="88.5">f</text></g>
</g>
''', frames)

    def test_steps_of_change(self):
        for b, want in ((100, 'z0'), (101.9, 'z0'), (98.1, 'z0'), (102, 'p1'), (98, 'm1'), (110, 'p2'), (90, 'm2'), (125, 'p3'), (75, 'm3'), (150, 'p4'), (50, 'm4')):
            p = self.picture('--diff', self.write('a.perf', stacks(f=100)), self.write('b.perf', stacks(f=b)))
            self.assertEqual(want, p['f'].classes[0], b)

    def test_diff_of_call_trees_and_formats(self):
        old = run('flame', '--folded', HEAT).out.splitlines()
        new = dict(line.rsplit(' ', 1) for line in run('flame', '--folded', HEAT_2).out.splitlines())
        both = {path: (a, b) for path, a, b in (line.rsplit(' ', 2) for line in run('flame', '--diff', HEAT, HEAT_2).out.splitlines())}
        for line in old:
            path, amount = line.rsplit(' ', 1)
            self.assertEqual((amount, new.get(path, '0')), both.pop(path))
        self.assertEqual({path: ('0', new[path]) for path in both}, both)

    def test_diff_json(self):
        answer = run('flame', '--diff', *self.two(), '--json').json
        self.assertEqual((6, 10, 's'), (answer['a'], answer['b'], answer['unit']))
        self.assertEqual([{'parent': None, 'depth': 0, 'name': 'main', 'a': 6, 'a_self': 0, 'b': 10, 'b_self': 0},
                          {'parent': 0, 'depth': 1, 'name': 'a', 'a': 4, 'a_self': 4, 'b': 5, 'b_self': 5},
                          {'parent': 0, 'depth': 1, 'name': 'new', 'a': 0, 'a_self': 0, 'b': 5, 'b_self': 5},
                          {'parent': 0, 'depth': 1, 'name': 'old', 'a': 2, 'a_self': 2, 'b': 0, 'b_self': 0}], answer['nodes'])

    def test_json(self):
        answer = run('flame', self.write('a.perf', stacks(main__a=6.5, main=1)), '--json').json
        self.assertEqual([(None, 'main', 7.5, 1), (0, 'a', 6.5, 6.5)], [(n['parent'], n['name'], n['value'], n['self']) for n in answer['nodes']])

    def test_refused(self):
        a, b = self.two()
        other = self.write('c.perf', stacks(unit='B', main=1))
        out = self.path('x.svg')
        for args, words in (((a, '--diff'), 'two files'), ((a, b, a, '--diff'), 'two files'), ((a, '--normalize', '-o', out), '--diff'), ((a, '--width-of', 'a', '-o', out), '--diff'),
                            ((a, '--flames'), 'about pictures'), ((a, '--inverted'), 'pictures and JSON'), ((a, '--width', '10', '-o', out), '--width takes'),
                            ((a, '--width', '1000000', '-o', out), '--width takes'), ((a, '--min-share', 'x', '-o', out), '--min-share'), ((a, '--folded', '-o', out), 'exclude'),
                            ((a, '--json', '-o', out, '--svg'), 'exclude'), ((a, '--flames', '--icicle', '-o', out), 'exclude'), ((a, '--color-by', 'mood', '-o', out), 'color-by'),
                            ((a, other, '--diff', '-o', out), 'in B'), ((a, '-O', 'perun_compatible=yes', '-o', out), 'folded stacks of single')):
            self.assertFails(run('flame', *args), 2, words)
        self.assertFails(run('flame', '--diff', a, self.path('missing'), '-o', out), 3, 'missing')
        self.assertFalse(os.path.exists(out))


if __name__ == '__main__':
    main()
