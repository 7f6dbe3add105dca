"""assay trace -o x.svg: runs, rows, axis and list of the picture, of the samples and intervals that test_trace.py and test_trace_intervals.py write down."""
import os
import re
import xml.etree.ElementTree as ElementTree

from common import Case, environment, main, run
import hpctoolkit
import test_trace
import test_trace_intervals

SVG = '{http://www.w3.org/2000/svg}'
EXAMPLES = os.path.join(os.environ.get('ASSAY_SOURCE', '.'), 'examples')


class Picture:
    """rows: of each row its label and runs: (procedure, first column, columns)."""

    def __init__(self, text):
        self.text = text
        self.root = ElementTree.fromstring(text)
        self.plot = next(e for e in self.root.iter(SVG + 'svg') if e.get('class') == 'plot')
        self.rows, self.colours = [], {}
        for group in (e for e in self.plot.iter(SVG + 'g') if e.get('class') == 'row'):
            runs = []
            for path in group.findall(SVG + 'path'):
                name = path.find(SVG + 'title').text
                self.colours[name] = path.get('class')
                runs += [(name, int(x), int(n)) for x, n in re.findall(r'M(\d+) 0h(\d+)', path.get('d'))]
            self.rows.append((group.find(SVG + 'title').text, sorted(runs, key=lambda run: run[1])))

    def texts(self, kind):
        return [t.text or '' for t in self.root.iter(SVG + 'text') if t.get('class') == kind]


class TraceSvg(Case):
    def picture(self, *args, **more):
        out = self.path('picture.svg')
        self.assertFine(run('trace', '-o', out, *args, **more))
        with open(out, encoding='utf-8', newline='') as f:
            return Picture(f.read())

    def samples(self, lines=test_trace.LINES):
        path = self.path('db')
        hpctoolkit.write_4(path, test_trace.database(lines))
        return path

    def test_samples(self):
        """40 columns of 2.5 ms, their middles at 1.25, 3.75 …, as in the terminal."""
        p = self.picture(self.samples(), '--depth', 'deepest', '--width', '40')
        self.assertEqual([('rank 0 thread 0', [('main', 0, 10), ('solve', 10, 14), ('MPI_Wait', 24, 10), ('<no activity>', 34, 6)]),
                          ('rank 0 thread 1', [('solve', 16, 1)]),
                          ('rank 1 thread 0', [('solve', 8, 4), ('main', 12, 12), ('MPI_Wait', 24, 8)])], p.rows)
        self.assertEqual(('0', '0.1', '40'), tuple(p.plot.get(key) for key in ('data-from', 'data-to', 'data-columns')))
        self.assertEqual(['3 locations, 100.0 ms, 8 samples, depth 3'], p.texts('subtitle'))
        self.assertEqual(['main', 'solve', 'MPI_Wait', '<no activity>'], p.texts('name'))
        self.assertEqual([['34.4', '%', '55.00', 'ms'], ['28.1', '%', '45.00', 'ms'], ['28.1', '%', '45.00', 'ms'], ['9.4', '%', '15.00', 'ms']],
                         [text.split() for text in p.texts('note')])
        self.assertEqual(len({p.colours[name] for name in p.colours}), 4)
        self.assertEqual('c13', p.colours['<no activity>'])

    def test_axis(self):
        """A tick lies where its time does."""
        p = self.picture(self.samples(), '--width', '600')
        axis = next(e for e in p.root.iter(SVG + 'g') if e.get('class') == 'axis')
        left, width = float(p.plot.get('x')), float(p.plot.get('width'))
        ticks = [(float(t.text), float(t.get('x'))) for t in axis.iter(SVG + 'text') if t.get('class') == 'tick']
        self.assertGreaterEqual(len(ticks), 3)
        for time, x in ticks:
            self.assertAlmostEqual(left + time / 100 * width, x, delta=0.01)
        self.assertIn('[ms]', p.texts('label'))

    def test_window(self):
        p = self.picture(self.samples(), '--depth', 'deepest', '--width', '10', '--since', '25ms', '--until', '50ms', '--location', '0.0')
        self.assertEqual([('thread 0', [('solve', 0, 10)])], p.rows)
        self.assertEqual(('0.025', '0.05'), (p.plot.get('data-from'), p.plot.get('data-to')))

    def test_intervals_sections_and_pauses(self):
        """100 columns of a millisecond each."""
        path = self.write('capture.afperf', test_trace_intervals.CAPTURE)
        p = self.picture(path, '--run', '0', '--depth', 'deepest', '--width', '100')
        rows = dict((label.strip(), runs) for label, runs in p.rows)
        self.assertEqual([('main', 0, 10), ('solve', 10, 10), ('kernel', 20, 20), ('solve', 40, 10), ('main', 50, 10), ('solve', 60, 20), ('main', 80, 5), ('<paused>', 85, 10), ('main', 95, 5)],
                         rows['regions'])
        self.assertEqual([('io', 10, 40)], [run for run in rows['io'] if run[0] == 'io'])
        self.assertEqual([('io', 30, 40)], [run for run in rows['io #2'] if run[0] == 'io'])
        self.assertEqual('c15', p.colours['<paused>'])

    def test_many_rows_are_merged(self):
        lines = {(r, 0): test_trace.at((0, test_trace.MAIN), (50, test_trace.LINE if r % 4 else test_trace.WAIT), (100, 0)) for r in range(40)}
        db = self.samples(lines)
        p = self.picture(db, '--rows', '10', '--depth', 'deepest')
        self.assertEqual(10, len(p.rows))
        self.assertEqual('rank 12 thread 0 +3', p.rows[3][0])
        self.assertEqual(['main', 'solve', '<no activity>'], [name for name, _, _ in p.rows[3][1]])
        self.assertEqual('40 locations on 10 rows: each shows what most of its locations do; --rows 0 shows all', p.texts('note')[-1])
        self.assertEqual(40, len(self.picture(db).rows))

    def test_streams(self):
        p = self.picture(os.path.join(EXAMPLES, 'gpu', 'filter.sqlite'))
        self.assertTrue(any(label.strip().startswith('stream') for label, _ in p.rows), p.rows)

    def test_the_list_is_cut(self):
        p = self.picture(self.samples(), '--depth', 'deepest', '-n', '1')
        self.assertEqual(['main', ''], p.texts('name'))
        self.assertRegex(p.texts('note')[1].strip(), r'^65\.6 % in 3 more; -n 0 lists all$')
        self.assertEqual({'c0'}, {p.colours['solve'], p.colours['MPI_Wait']})

    def test_names_are_text(self):
        names = ['<script>alert(1)</script>', ']]>', '"&amp;\'', 'x' * 5000]
        capture = test_trace_intervals.CAPTURE
        for old, new in zip(('main', 'solve', 'kernel', 'io'), names):
            quoted = new.replace('"', '""')
            capture = capture.replace(f',{old},', f',"{quoted}",')
        p = self.picture(self.write('odd.afperf', capture), '--depth', 'deepest')
        for name in names[:3]:
            self.assertIn(name, p.colours)
        self.assertTrue(any(re.fullmatch('x{300,400}…', name) for name in p.colours))
        self.assertEqual(1, len(list(p.root.iter(SVG + 'script'))))
        self.assertFalse(re.search('[\x00-\x09\x0b-\x1f\x7f]', p.text))

    def test_same_bytes(self):
        path = self.samples()
        self.assertEqual(self.picture(path).text, run('trace', '--svg', path, env=environment(LC_ALL='C')).out)

    def test_nothing_is_fetched(self):
        text = self.picture(self.samples()).text
        self.assertEqual({'http://www.w3.org/2000/svg'}, set(re.findall(r'https?://[^"\']*', text)))
        self.assertFalse(re.search(r'foreignObject|@import|url\(|<image|<use|href|innerHTML|eval\(', text))

    def test_refused(self):
        db, out = self.samples(), self.path('x.svg')
        for more in ('--summary', '--by-location', '--samples', '--json', '--csv'):
            self.assertFails(run('trace', db, '-o', out, more), 2, 'picture of time lines')
        self.assertFails(run('trace', db, db, '-o', out), 2, 'one file')
        self.assertFails(run('trace', db, '-o', self.path('x.png')), 2, 'x.png', '-o FILE.svg')
        self.assertFails(run('trace', os.path.join(EXAMPLES, 'heat.cubex'), '-o', out), 3, 'no traces')
        self.assertFalse(os.path.exists(out))


if __name__ == '__main__':
    main()
