"""AFPerf captures against the answers that came with them (corpus/afperf/NAME.answers.json). ASSAY_CORPUS names the corpus, else ../shared/corpus beside the
repository; without it the test is skipped."""
import glob
import json
import os
import subprocess
import sys
import unittest

from oracles import ASSAY, CORPUS

ROOT = os.path.normpath(os.path.join(CORPUS, 'afperf'))
SECONDS = {'seconds': 1.0, 'milliseconds': 1e-3, 'microseconds': 1e-6, 'nanoseconds': 1e-9}
NODES = '''select r.source_id as run, m.name as metric, g.kind as kind, c.path as path, n.inclusive, n.exclusive from node n
           join run r on r.id = n.run join metric m on m.id = n.metric join context c on c.id = n.context join region g on g.id = c.region'''


class Corpus(unittest.TestCase):
    def sql(self, path, statement, *options):
        result = subprocess.run([ASSAY, 'sql', '--json', *options, path, statement], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)
        self.assertEqual(0, result.returncode, result.stderr)
        return json.loads(result.stdout)

    def check_run(self, run, nodes, without_pauses):
        scale, name = SECONDS[run['unit']], hex(run['run'])

        def value(metric, kind, path, column):
            return nodes[name, metric, kind, path][column]
        for context in run['contexts']:
            path = '->'.join(context['path'])
            self.assertEqual(context['visits'], value('visits', 'region', path, 'exclusive'))
            self.assertAlmostEqual(context['inclusive'] * scale, value('time', 'region', path, 'inclusive'), 12)
            self.assertAlmostEqual(context['exclusive'] * scale, value('time', 'region', path, 'exclusive'), 12)
            self.assertAlmostEqual(context['inclusive_without_pauses'] * scale, without_pauses[name, 'time', 'region', path]['inclusive'], 12)
            self.assertEqual(context['memory_sum'], value('Resident Memory', 'region', path, 'inclusive'))
        for section in run['sections']:
            if not section['intervals']:
                continue
            self.assertEqual(section['intervals'], value('visits', 'section', section['label'], 'exclusive'))
            self.assertAlmostEqual(section['sum'] * scale, value('time', 'section', section['label'], 'inclusive'), 12)
            self.assertAlmostEqual(section['covered'] * scale, value('time covered', 'section', section['label'], 'inclusive'), 12)

    def test_answers(self):
        for path in sorted(glob.glob(os.path.join(ROOT, '*.afperf'))):
            with self.subTest(path), open(path[:-len('.afperf')] + '.answers.json', encoding='utf-8') as answers:
                nodes, without_pauses = ({(x['run'], x['metric'], x['kind'], x['path']): x for x in self.sql(path, NODES, *options)}
                                         for options in ((), ('-O', 'deduct_pauses=yes')))
                for run in json.load(answers)['runs']:
                    self.check_run(run, nodes, without_pauses)


if __name__ == '__main__':
    if not glob.glob(os.path.join(ROOT, '*.afperf')):
        print(f'there are no captures in {ROOT}')
        sys.exit(77)
    unittest.main()
