"""compare as people use it: what it says to those who type something else than they mean, and what fits a narrow terminal."""
import json
import os
import sys
from xml.etree import ElementTree

from common import Case, main, run, run_on_terminal

EXAMPLES = os.path.join(os.environ.get('ASSAY_SOURCE', '.'), 'examples')
sys.path.insert(0, EXAMPLES)
import sort  # noqa: E402  examples/sort.py


def example(name):
    return os.path.join(EXAMPLES, name)


class Mistakes(Case):
    def test_files_that_are_missing_or_too_many(self):
        for operands, words in (((), 'BASE and TARGET'), (('a',), 'what is a to be compared with'), (('a', 'b', 'c'), 'Put vs between them: assay compare a … vs … c'),
                                (('a', 'vs'), 'one is empty'), (('vs', 'b'), 'one is empty'), (('a', 'b', 'vs'), 'one is empty')):
            self.assertFails(run('compare', *operands), 2, words)

    def test_a_file_may_be_called_vs(self):
        base = example('heat.cubex')
        with open(base, 'rb') as f:
            self.write('vs', f.read())
        self.assertEqual(0, run('compare', os.path.abspath(base), 'vs', cwd=self.folder).status)

    def test_metrics(self):
        both = example('heat.cubex'), example('heat-2.cubex')
        self.assertFails(run('compare', '--metric', 'tme', *both), 2, "heat.cubex", "did you mean 'time'?")
        by_name = run('compare', '--metric', 'TIME', *both)
        self.assertEqual((1, run('compare', '--metric', 'time', *both).out), (by_name.status, by_name.out))

    def test_what_matches_nothing_is_no_success(self):
        self.assertFails(run('compare', '--match', 'nothing', example('heat.cubex'), example('heat-2.cubex')), 2, '--match nothing', 'no call path')

    def test_a_series_of_nothing_is_no_success(self):
        self.assertFails(run('compare', '--series', self.folder), 3, 'no measurement')


class Help(Case):
    def test_words_that_can_be_given_are_listed(self):
        self.assertIn('maybe|degradation|never', run('help', 'compare').out)
        self.assertIn('smoothing|ridge|user|method|estimator', run('help', 'regress').out)
        self.assertNotIn('auto|always|never', run('help', 'compare').out)  # the sentence names them


class Examples(Case):
    def test_measured_again_it_is_the_same(self):
        r = run('compare', '--json', example('sort-1.perf'), example('sort-1-again.perf'))
        self.assertEqual((0, 'no change'), (r.status, r.json['verdict']))

    def test_noise_makes_no_other_order_of_growth(self):
        for seed in range(20):
            path = self.write('again.perf', sort.text_of(sort.profile(0, seed=seed)))
            r = run('compare', '--json', example('sort-1.perf'), path)
            self.assertEqual({'no change'}, {g['order_outcome'] for g in r.json['growth']}, seed)

    def test_the_next_version_is_worse(self):
        r = run('compare', example('sort-1.perf'), example('sort-2.perf'))
        self.assertEqual(1, r.status)
        self.assertIn('Models: 1 of 6 grow differently (x: structure-unit-size)', r.out)
        self.assertIn('x log x → x^2', r.out)
        self.assertRegex(r.out, r'degradation +quick_sort\n')

    def test_a_profile_loses_nothing_in_its_own_format(self):
        r = run('convert', '--strict', example('sort-1.perf'), self.path('same.perf'))
        self.assertEqual((0, ''), (r.status, r.err))


class Reports(Case):
    def test_models_and_new_paths_are_in_them(self):
        junit, sarif = self.path('j.xml'), self.path('s.json')
        self.assertEqual(1, run('compare', example('sort-1.perf'), example('sort-2.perf'), '--match', 'quick|check', '--junit', junit, '--sarif', sarif).status)
        suite = ElementTree.parse(junit).getroot().find('testsuite')
        cases = {(c.get('classname'), c.get('name')): c for c in suite.findall('testcase')}
        self.assertEqual((len(cases), 2), (int(suite.get('tests')), int(suite.get('failures'))))
        self.assertRegex(cases['growth', 'quick_sort'].find('failure').get('message'), r'^structure-unit-size log structure-unit-size → structure-unit-size\^2$')
        self.assertRegex(cases['mixed(time delta)', 'check_order'].find('system-out').text, r'^new: 9\d\.\d+ µs$')
        with open(sarif) as f:
            messages = [r['message']['text'] for r in json.load(f)['runs'][0]['results']]
        self.assertIn('quick_sort: degradation of the growth of mixed(time delta): structure-unit-size log structure-unit-size → structure-unit-size^2', messages)

    def test_they_are_refused_where_there_are_none(self):
        self.assertFails(run('compare', '--series', self.folder, '--junit', self.path('j.xml')), 2, '--junit', '--series')
        self.assertFails(run('compare', '--noise', self.folder, '--sarif', self.path('s.json')), 2, '--sarif', '--noise')
        self.assertFails(run('compare', 'a', 'b', '--order', 'time'), 2, '--order belongs to --series')
        self.assertFails(run('compare', '--series', '--noise', 'a'), 2, 'exclude each other')


class Chosen(Case):
    def test_values_are_the_resources(self):
        entries = run('compare', '--json', example('sort-1.perf'), example('sort-2.perf')).json['entries']
        self.assertEqual({(80, 80)}, {(e['n_base'], e['n_target']) for e in entries})  # eight calls at each of ten sizes

    def test_match_counts_for_models_noise_and_series(self):
        both = example('sort-1.perf'), example('sort-2.perf')
        r = run('compare', '--json', '--match', 'report', *both)
        self.assertEqual(({'write_report'}, {'write_report'}, 0), ({g['callpath'] for g in r.json['growth']}, {e['path'] for e in r.json['entries']}, r.status))
        self.assertNotIn('merge', run('compare', '--noise', example('kernels.txt'), '--match', 'matrix').out)
        for i in range(12):
            self.write(f'run-{i:02}.perf', sort.text_of(sort.profile(i >= 8, seed=100 + i)))
        self.assertEqual((1, 0), (run('compare', '--series', self.folder).status, run('compare', '--series', self.folder, '--match', 'report').status))

    def test_what_a_rule_ignores_has_no_models(self):
        config = self.write('c.yaml', 'rules: [{path: quick, ignore: true}]\n')
        r = run('compare', '--json', '--config', config, example('sort-1.perf'), example('sort-2.perf'))
        self.assertEqual((0, False), (r.status, 'quick_sort' in {g['callpath'] for g in r.json['growth']}))


class Narrow(Case):
    def test_series_fit_80_columns(self):
        for i in range(12):
            self.write(f'run-{i:02}.perf', sort.text_of(sort.profile(i >= 8, seed=100 + i)))
        for columns in (80, 120):
            r = run_on_terminal('compare', '--color', 'never', '--series', self.folder, columns=columns)
            self.assertEqual(1, r.status, r)
            table = r.out.splitlines()[3:]
            self.assertTrue(all(len(line) <= columns for line in table), r.out)
            for word in ('+4', '▁▁▁▁▁▁▁▁████', 'quick_sort'):
                self.assertIn(word, '\n'.join(table))
            self.assertNotIn('…', '\n'.join(table))


if __name__ == '__main__':
    main()
