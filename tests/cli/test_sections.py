"""Sections run beside regions: totals and shares are those of the regions, in every view. Expected numbers are arithmetic by hand.

main lasts 10 s, and in it solve 1 to 7; the section io has the intervals 0 to 8 and 2 to 9: 15 s in all, which cover 9."""
import unittest

from captures import SIGNATURE, region, run_info, section
from common import Case, run

BESIDE = SIGNATURE + run_info() + region(0x10, 'main', 0, 10) + region(0x11, 'solve', 1, 7) + section(0x20, 'io', [(0, 8), (2, 9)])


class Sections(Case):
    def capture(self, text=BESIDE, name='beside.afperf'):
        return self.write(name, text)

    def test_tree(self):
        lines = run('tree', self.capture()).out.splitlines()
        self.assertIn('time 10 s', lines[0].replace('10.00', '10'))
        self.assertIn('main', lines[2])
        self.assertIn(' 100.0 ', lines[2])
        self.assertIn('io (section)  covers 9', lines[-1])
        self.assertIn(' 150.0 ', lines[-1])

    def test_shares(self):
        for view in ([], ['--flat'], ['--bottom-up', '--depth', '1']):
            rows = run('tree', self.capture(), '--csv', '--metric', 'time', *view).out.splitlines()
            head = rows[0].split(',')
            shares = {row.split(',')[head.index('name')]: float(row.split(',')[head.index('share')]) for row in rows[1:]}
            self.assertEqual(shares, {'main': 1, 'solve': 0.6, 'io': 1.5}, view)

    def test_whole_in_json(self):
        root = run('tree', self.capture(), '--json').json['root']
        self.assertEqual(root['values']['time']['inclusive'], 10)
        self.assertEqual(root['values']['visits']['inclusive'], 2)
        self.assertEqual({child['name']: child['kind'] for child in root['children']}, {'main': 'region', 'io': 'section'})

    def test_hot_path_is_of_regions(self):
        out = run('tree', self.capture(), '--hot-path').out
        self.assertIn('solve', out)
        self.assertNotIn('io', out.splitlines()[-1])

    def test_top(self):
        lines = run('top', self.capture()).out.splitlines()
        self.assertEqual([line.split('  ')[-1].strip() for line in lines[2:4]], ['solve', 'main'])
        self.assertIn('io (section)', lines[4])
        lines = run('top', self.capture(), '-n', '1').out.splitlines()
        self.assertEqual(lines[-1], '… 2 more, 40.0 % in all; -n 0 shows them')

    def test_sections_alone_are_the_whole(self):
        text = SIGNATURE + run_info() + section(0x20, 'io', [(0, 8), (2, 9)]) + section(0x21, 'net', [(0, 5)])
        self.assertEqual(run('tree', self.capture(text), '--json').json['root']['values']['time']['inclusive'], 20)
        lines = run('tree', self.capture(), '--root', 'io').out.splitlines()
        self.assertIn('15', lines[0])
        self.assertIn(' 100.0 ', lines[2])

    def test_flame(self):
        result = run('flame', '--folded', self.capture())
        self.assertEqual(result.out.splitlines(), ['main 4', 'main;solve 6'])
        self.assertIn('without 1 section, which runs beside the regions', result.err)

    def test_diff_and_compare(self):
        """The section takes 5 s more, the regions nothing: the total does not change."""
        other = self.capture(BESIDE.replace('SectionStop,109', 'SectionStop,114'), 'other.afperf')
        answer = run('diff', self.capture(), other, '--json').json
        self.assertEqual(answer['root']['values']['time']['change']['inclusive'], 0)
        answer = run('compare', self.capture(), other, '--json').json
        total = [t for t in answer['totals'] if t['metric'] == 'time'][0]
        self.assertEqual((total['base'], total['target']), (10, 10))
        slower = [(e['path'], e['base'], e['target']) for e in answer['entries'] if e['metric'] == 'time' and e['finding'] == 'degradation']
        self.assertEqual(slower, [('io', 15, 20)])

    def test_a_section_is_no_region_of_its_name(self):
        """A region and a section of one name stay apart, whichever comes first."""
        one = region(0x11, 'io', 1, 3) + section(0x20, 'io', [(0, 8)])
        two = section(0x20, 'io', [(0, 9)]) + region(0x11, 'io', 1, 3)
        start = SIGNATURE + run_info()
        answer = run('diff', self.capture(start + one, 'one.afperf'), self.capture(start + two, 'two.afperf'), '--json').json
        change = {node['kind']: node['values']['time']['change']['inclusive'] for node in answer['root']['children']}
        self.assertEqual(change, {'region': 0, 'section': 1})

    def test_tags_of_sections_are_no_part_of_their_names(self):
        one = self.capture(SIGNATURE + run_info() + section(0x20, 'io', [(0, 8)], 'platform=a'), 'one.afperf')
        two = self.capture(SIGNATURE + run_info() + section(0x20, 'io', [(0, 9)], 'platform=b'), 'two.afperf')
        root = run('diff', one, two, '--json').json['root']
        self.assertEqual((root['name'], root['values']['time']['change']['inclusive']), ('io', 1))

    def sizes(self):
        """Files of one size each: main lasts `size` seconds, the section io twice that."""
        return [self.capture(SIGNATURE + run_info(tags=f'size={n};case=x') + region(0x10, 'main', 0, n) + section(0x20, 'io', [(0, n), (0, n)]), f'{n}.afperf')
                for n in (2, 4, 8, 16, 32)]

    def test_predicted_total(self):
        """Of several files, too, the total is that of the regions: 64 s at size 64."""
        answer = run('predict', *self.sizes(), '-O', 'parameter=tag:size', '--metric', 'time', '--at', 'size=64', '--csv').out.splitlines()
        values = {row.split(',')[answer[0].split(',').index('callpath')]: row for row in answer[1:]}
        column = answer[0].split(',').index('value')
        self.assertAlmostEqual(float(values[''].split(',')[column]), 64)
        self.assertAlmostEqual(float(values['io'].split(',')[column]), 128)

    def test_tag_that_is_no_number(self):
        result = run('model', *self.sizes(), '-O', 'parameter=tag:case')
        self.assertEqual(result.status, 2)
        self.assertIn("no tag 'case' that is a number, as all runs must for a parameter; its numbers are size", result.err)

    def test_pauses_are_told(self):
        paused = self.capture(BESIDE + 'PauseResume,104,102,0x1\n', 'paused.afperf')
        plain = self.capture()
        for verb in ('tree', 'top', 'stat'):
            self.assertRegex(run(verb, paused).out, r'paused for 2(\.0+)? s; -O deduct_pauses=yes deducts that', verb)
            self.assertRegex(run(verb, paused, '-O', 'deduct_pauses=yes').out, r'without pauses, 2(\.0+)? s', verb)
        self.assertRegex(run('trace', paused).out, r'paused for 2(\.0+)? s')
        for verb in ('tree', 'top', 'stat', 'trace'):
            self.assertNotIn('paused', run(verb, plain).out, verb)
        self.assertIn('paused for', run('tree', paused, '--group-by', 'region').out)


if __name__ == '__main__':
    unittest.main()
