"""The scripts in the pictures of flame and trace, in a browser: clicks and keys, and what stands there afterwards. Left out where there is no chromium."""
import json
import re
import shutil
import subprocess
import unittest
from urllib.parse import unquote

from common import Case, main, run
from test_flame_svg import stacks
import test_trace_intervals

CHROMIUM = shutil.which('chromium')
FLAGS = ['--headless', '--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync', '--window-size=1020,700']

# What the tests do it with. result(…): what comes back.
HELPERS = '''
window.addEventListener('error', event => result({error: event.message}));
function result(value) { document.documentElement.setAttribute('data-result', encodeURIComponent(JSON.stringify(value))); }
const key = (name, more) => (document.activeElement || document).dispatchEvent(new KeyboardEvent('keydown', {key: name, bubbles: true, cancelable: true, ...more}));
const mouse = (type, element, x, y) => element.dispatchEvent(new MouseEvent(type, {bubbles: true, cancelable: true, clientX: x, clientY: y}));
const shown = () => [...document.querySelectorAll('.frames > g')].filter(g => g.style.display !== 'none').map(g => {
  const rect = g.querySelector('rect');
  return [g.frame.name, Math.round(rect.getAttribute('width')), [...g.classList].filter(c => c === 'above' || c === 'hit').join(' ')];
});
const frame = name => [...document.querySelectorAll('.frames > g')].find(g => g.frame.name === name);
const matched = () => document.querySelector('.matched').textContent;
const tip = () => [...document.querySelectorAll('.tip text')].map(text => text.textContent);
'''


@unittest.skipUnless(CHROMIUM, 'there is no chromium')
class Browser(Case):
    def ask(self, picture, script, address=''):
        """Runs the script in the picture, opened with what stands behind its address, and gives its result."""
        with open(picture, encoding='utf-8') as f:
            text = f.read()
        end = text.rindex('</svg>')
        with open(picture, 'w', encoding='utf-8') as f:
            f.write(f'{text[:end]}<script><![CDATA[{{{HELPERS}{script}}}]]></script></svg>')
        shown = subprocess.run([CHROMIUM, *FLAGS, f'--user-data-dir={self.path("profile")}', '--dump-dom', f'file://{picture}{address}'], capture_output=True, timeout=120, text=True)
        found = re.search(r'data-result="([^"]*)"', shown.stdout)
        self.assertTrue(found, shown)
        answer = json.loads(unquote(found.group(1)))
        self.assertNotIsInstance(answer, dict, answer)
        return answer

    def flame(self):
        out = self.path('flame.svg')
        self.assertFine(run('flame', self.write('a.perf', stacks(main__a__x=4, main__a__y=2, main__b__x=3, main=1)), '-o', out))
        return out

    def test_zoom_and_back(self):
        """The page is as wide as the window: 1000 for the frames."""
        whole, zoomed, keys, back = self.ask(self.flame(), '''
            const whole = shown();
            mouse('click', frame('a').querySelector('rect'));
            const zoomed = shown();
            key('Backspace');
            const up = shown();
            key('Escape');
            result([whole, zoomed, up, shown()]);''')
        self.assertEqual([['all, 10.00 s', 1000, ''], ['main', 1000, ''], ['a', 600, ''], ['x', 400, ''], ['y', 200, ''], ['b', 300, ''], ['x', 300, '']],
                         [[name, round(width, -1), mark] for name, width, mark in whole])
        self.assertEqual([['all, 10.00 s', 1000, 'above'], ['main', 1000, 'above'], ['a', 1000, ''], ['x', 670, ''], ['y', 330, '']], [[name, round(width, -1), mark] for name, width, mark in zoomed])
        self.assertEqual(['above', ''], [mark for _, _, mark in keys[:2]])
        self.assertEqual(whole, back)

    def test_search(self):
        """x has 7 of 10; below a it has 4 of 6."""
        typed, zoomed, odd, gone = self.ask(self.flame(), '''
            key('f', {ctrlKey: true});
            for (const letter of '^X$') key(letter);
            key('Backspace'); key('Backspace'); key('x');
            const typed = matched();
            key('Enter');
            mouse('click', frame('a').querySelector('rect'));
            const zoomed = [matched(), shown().filter(one => one[2] === 'hit').length];
            key('Escape'); key('/'); key('(');
            const odd = matched();
            key('Escape');
            result([typed, zoomed, odd, matched()]);''')
        self.assertEqual('/^x▏  70.0 % in 2 frames', typed)
        self.assertEqual(['/^x  66.7 % in 1 frame', 1], zoomed)
        self.assertIn('0.0 % in 0 frames', odd)
        self.assertEqual('', gone)

    def test_capitals(self):
        """Small letters mean any, capitals themselves; Ctrl-I turns that round."""
        path = self.write('a.perf', stacks(Ab=4, ab=2, c=2))
        self.assertFine(run('flame', path, '-o', self.path('case.svg')))
        seen = self.ask(self.path('case.svg'), '''
            const seen = [];
            const find = text => { key('Escape'); key('/'); for (const letter of text) key(letter); key('Enter'); seen.push(matched()); };
            const turn = () => { key('i', {ctrlKey: true}); seen.push(matched()); };
            find('ab'); turn(); turn(); find('Ab'); turn();
            result(seen);''')
        self.assertEqual(['/ab  75.0 % in 2 frames', '/ab  Aa  25.0 % in 1 frame', '/ab  aa  75.0 % in 2 frames', '/Ab  50.0 % in 1 frame', '/Ab  aa  75.0 % in 2 frames'], seen)

    def test_address(self):
        """What is shown stands in the address; opened with it the picture shows the same, and what makes no sense shows all."""
        addresses = self.ask(self.flame(), '''
            const seen = [location.hash];
            const keep = () => seen.push(location.hash);
            mouse('click', frame('a').querySelector('rect')); keep();
            key('/'); for (const letter of 'x&') key(letter); keep(); key('Backspace'); key('Enter'); keep();
            key('i', {ctrlKey: true}); keep();
            key('Escape'); keep(); key('Escape'); keep();
            result(seen);''')
        self.assertEqual(['', '#frame=2', '#frame=2', '#frame=2&search=x', '#frame=2&search=x&case=1', '#frame=2', ''], addresses)
        look = 'result([shown().filter(one => one[2] !== "above").map(one => one[0]), matched(), location.hash]);'
        self.assertEqual([['a', 'x', 'y'], '/x  66.7 % in 1 frame', '#frame=2&search=x'], self.ask(self.flame(), look, '#frame=2&search=x'))
        for odd in ('#frame=999', '#frame=-1', '#frame=x', '#frame=1e9&from=3'):
            names, found, _ = self.ask(self.flame(), look, odd)
            self.assertEqual((7, ''), (len(names), found), odd)

    def test_details_and_arrows(self):
        hover, names = self.ask(self.flame(), '''
            mouse('mousemove', frame('a').querySelector('rect'), 100, 100);
            const hover = tip();
            const names = [];
            for (const name of ['ArrowDown', 'ArrowDown', 'ArrowDown', 'ArrowRight', 'ArrowLeft', 'ArrowDown', 'ArrowUp', 'ArrowUp']) { key(name); names.push(document.activeElement.frame.name); }
            key('Enter');
            result([hover, [...names, shown()[1][0]]]);''')
        self.assertEqual(['a', '6.000 s, 60.0 % of all, 60.0 % of its caller'], hover)
        self.assertEqual(['all, 10.00 s', 'main', 'a', 'b', 'a', 'x', 'a', 'main', 'main'], names)

    def test_names_do_nothing(self):
        path = self.write('a.perf', stacks(**{'<img src=x onerror=alert(1)>': 3, 'b': 1}))
        out = self.path('odd.svg')
        self.assertFine(run('flame', path, '-o', out))
        lines, images = self.ask(out, '''
            mouse('mousemove', frame('<img src=x onerror=alert(1)>').querySelector('rect'), 100, 100);
            result([tip(), document.querySelectorAll('img').length]);''')
        self.assertEqual((['<img src=x onerror=alert(1)>', '3.000 s, 75.0 % of all'], 0), (lines, images))

    def test_time_lines(self):
        """100 ms in as many columns. Dragging from a quarter to the half shows 25 to 50 ms."""
        out = self.path('lines.svg')
        capture = self.write('capture.afperf', test_trace_intervals.CAPTURE)
        self.assertFine(run('trace', capture, '--run', '0', '--depth', 'deepest', '--width', '100', '-o', out))
        hover, ticks, zoomed, back = self.ask(out, '''
            const plot = document.querySelector('.plot');
            const box = () => ({left: +plot.getAttribute('x'), width: +plot.getAttribute('width'), top: +plot.getAttribute('y')});
            const at = (type, part) => mouse(type, plot, box().left + part * box().width, box().top + 5);
            const ticks = () => [...document.querySelectorAll('.tick')].map(tick => [+tick.textContent, Math.round(1000 * (tick.getAttribute('x') - box().left) / box().width)]);
            at('mousemove', 0.255);
            const hover = tip(), before = ticks();
            at('mousedown', 0.25); at('mousemove', 0.4); at('mouseup', 0.5);
            const zoomed = ticks();
            key('Escape');
            result([hover, before, zoomed, ticks()]);''')
        self.assertEqual(['kernel', 'regions'], hover[:2])
        self.assertRegex(hover[2], r'^at 2\d ms, for 20 ms$')
        for time, place in ticks:
            self.assertAlmostEqual(10 * time, place, delta=1)
        self.assertGreater(len(zoomed), 2)
        for time, place in zoomed:
            self.assertAlmostEqual((time - 25) * 40, place, delta=8)
        self.assertEqual(ticks, back)

    def test_address_of_time_lines(self):
        capture, out = self.write('capture.afperf', test_trace_intervals.CAPTURE), self.path('lines.svg')
        look = 'const ticks = [...document.querySelectorAll(".tick")].map(tick => +tick.textContent); result([Math.min(...ticks), Math.max(...ticks), location.hash]);'
        for address, first, last, kept in (('#from=0.025&to=0.05', 25, 50, '#from=0.025&to=0.05'), ('#from=x&to=1', 0, 100, ''), ('#from=5&to=2', 0, 100, '')):
            self.assertFine(run('trace', capture, '--run', '0', '--depth', 'deepest', '--width', '100', '-o', out))
            low, high, now = self.ask(out, look, address)
            self.assertEqual((True, kept), (first <= low < high <= last, now), (address, low, high))
            self.assertGreater(2 * (high - low), last - first)


if __name__ == '__main__':
    main()
