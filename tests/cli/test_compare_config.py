"""The config file of compare: each fault in it is one line that says where it is and what would be right."""
import os
import time

from common import Case, main, run

EXAMPLES = os.path.join(os.environ.get('ASSAY_SOURCE', '.'), 'examples')
SIDES = [os.path.join(EXAMPLES, name) for name in ('sort-1.perf', 'sort-2.perf')]


class Config(Case):
    def refused(self, text, place, *words, status=2):
        path = self.write('c.yaml', text)
        result = run('compare', *SIDES, '--config', path)
        self.assertEqual(status, result.status, (text[:80], result))
        self.assertEqual(1, result.err.count('\n'), result.err)
        self.assertTrue(result.err.startswith(f'assay: {path}:{place}: '), (text[:80], result.err))
        self.assertLess(len(result.err), len(path) + 300)
        for word in words:
            self.assertIn(word, result.err)
        self.assertEqual('', result.out)

    def accepted(self, text):
        result = run('compare', *SIDES, '--fail-on', 'never', '--config', self.write('c.yaml', text))
        self.assertEqual((0, ''), (result.status, result.err), text[:80])

    def test_thresholds(self):
        for value in ('-5%', '1e999', '5 percent', '.inf', 'nan', '5%%', '0x10', '1,5%', '1000000%'):
            self.refused(f'threshold: {value}\n', '1:12', f"'{value}' is no part such as 5% or 0.05")
            self.refused(f'rules:\n- path: f\n  threshold: {value}\n', '3:14', value)
        self.refused('floor: -1\n', '1:8', "'-1' is no part")
        for value, what in (('[5%]', 'a list'), ('{a: 5%}', 'a mapping')):
            self.refused(f'threshold: {value}\n', '1:12', what + ' is no part')
        self.refused('threshold:\n', '1:11', 'nothing is no part')
        for value in ('5%', '"5%"', '0.05', '0', '1e-400'):
            self.accepted(f'threshold: {value}\n')

    def test_other_values(self):
        for level in ('0', '1', '2', '100%'):
            self.refused(f'\nlevel: {level}\n', '2:8', f"'{level}' is no level")
        for key, value, words in (('resamples', '1e3', 'no whole number from 100 to 1000000'), ('resamples', '99', 'from 100'), ('resamples', '9' * 30, 'from 100'), ('seed', '-1', 'from 0'),
                                  ('seed', '[1]', 'a list is no whole number'), ('inclusive', 'maybe', 'neither true nor false'), ('fail_on', 'always', 'neither maybe, degradation nor never'),
                                  ('fail_on', '[maybe]', 'a list is neither'), ('metrics', 'time', 'no list of metrics'), ('metrics', '{a: b}', 'a mapping is no list'), ('rules', '{path: f}', 'no list of rules')):
            self.refused(f'{key}: {value}\n', f'1:{len(key) + 3}', words)
        self.refused('metrics: [[a]]\n', '1:11', 'a list is no text')

    def test_rules(self):
        for rule, place, words in (('f', '1:9', "'f' is no rule"), ('[f]', '1:9', 'a list is no rule'), ('{path: f, treshold: 5%}', '1:19', "no key 'treshold'"), ('{path: f, ignore: 2}', '1:27', "'2' is neither"),
                                   ('{path: "(", threshold: 5%}', '1:16', "'(' is no pattern: ) is missing"), ('{}', '1:9', 'none of threshold'), ('{path: f}', '1:9', 'none of threshold'),
                                   ('{path: [f], ignore: yes}', '1:16', 'a list is no text')):
            self.refused(f'rules: [{rule}]\n', place, words)
        self.accepted('rules: [{threshold: 5%}, {metric: time, ignore: no}]\n')

    def test_keys(self):
        self.refused('threshold: 5%\nlevel: 0.1\nthreshold: 6%\n', '3:1', "the key 'threshold' is there before, in line 1")
        self.refused('rules:\n- path: f\n  ignore: no\n  path: g\n', '4:3', "the key 'path' is there before, in line 2")
        self.accepted('rules:\n- {path: f, ignore: no}\n- {path: f, ignore: no}\n')
        self.refused('? [a]\n: 1\n', '1:3', 'is no key')
        self.refused('Threshold: 5%\n', '1:1', "no key 'Threshold'; it is one of threshold|level")
        self.refused('? %s\n: 1\n' % ('k' * 100000), '1:3', "no key 'kkk")
        self.refused('threshold: %s\n' % ('5' * 100000), '1:12', 'this long text is no part')

    def test_documents(self):
        for text, words in (('5%\n', "'5%' is no mapping"), ('- threshold: 5%\n', 'a list is no mapping')):
            self.refused(text, '1:1', words)
        for text in ('', '# nothing\n', '{}\n', '---\nthreshold: 5%\n...\n'):
            self.accepted(text)
        self.refused('threshold: 5%\n---\nthreshold: 7%\n', '2:1', 'second document')
        self.refused('\tthreshold: 5%\n', '1:1', status=3)
        self.refused('threshold: "5%\n', '2:1', status=3)

    def test_anchors(self):
        self.accepted('threshold: &t 5%\nfloor: *t\n')
        self.refused('threshold: *t\n', '1:12', 'anchor', status=3)
        self.refused('rules: &r [*r]\n', '1:12', 'alias', status=3)
        self.refused('<<: {threshold: 5%}\n', '1:1', "no key '<<'")
        laughs = 'metrics:\n- &a0 [x, x, x, x, x, x, x, x, x]\n' + ''.join(f'- &a{i} [{", ".join([f"*a{i - 1}"] * 9)}]\n' for i in range(1, 40))
        self.refused(laughs, '2:3', 'a list is no text')

    def test_sizes(self):
        self.refused('rules: ' + '[' * 50000 + ']' * 50000, '1:107', 'nested more than 100 levels', status=3)
        path = self.write('c.yaml', 'rules:\n' + '- {path: f, threshold: 5%}\n' * 400000)
        self.assertFails(run('compare', *SIDES, '--config', path), 3, 'more than 8 MiB')
        start = time.monotonic()
        self.accepted('rules:\n' + ''.join(f'- {{path: f{i}, threshold: 5%}}\n' for i in range(100000)))
        self.assertLess(time.monotonic() - start, 30)


if __name__ == '__main__':
    main()
