"""Models of real experiments against those Extra-P itself makes (corpus/extrap/oracle): the same function, or one that is exactly as good. ASSAY_CORPUS names
the corpus, else ../shared/corpus beside the repository; without it the test is skipped."""
import json
import math
import os
import re
import subprocess
import unittest

from oracles import ASSAY, ROOT, main, oracles

RUNS = {'default_mean': (), 'default_median': ('--measure', 'median'), 'default_minimum': ('--measure', 'minimum'),
        'refining_mean': ('--modeler', 'refining'), 'segmented_mean': ('--modeler', 'segmented')}
# Costs of fits that are exact but for rounding.
NOISE = 1e-8


def shape(function):
    """The function without its numbers: p^(2), not -3.5 + 0.2 * p^(2); products and sums in any order."""
    bare = re.sub(r'(?<![\w(/])-?\d+(\.\d+)?(e[-+]?\d+)?(?![\w)/])', '', function.replace('\n', ';').replace('; ', ';'))
    terms = [' * '.join(sorted(f.strip() for f in term.split('*') if f.strip())) for term in re.split(r' \+ |;', bare)]
    return sorted(t for t in terms if t)


def close(expected, got, tolerance=1e-5):
    expected, got = float(expected), float(got)
    return math.isclose(expected, got, rel_tol=tolerance) or (math.isnan(expected) and math.isnan(got))


class Models(unittest.TestCase):
    def check(self, path, parameters, run, models):
        arguments = RUNS[run] + (('-O', 'compat=extrap') if run == 'default_minimum' and len(parameters) > 1 else ())
        r = subprocess.run([ASSAY, 'model', '--json', '--quiet', *arguments, path], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)
        self.assertEqual(0, r.returncode, r.stderr)
        got = {(m['callpath'], m['metric']): m for m in json.loads(r.stdout)['models']}
        for m in models:
            mine = got[m['callpath'], m['metric']]
            if float(m['SMAPE']) < NOISE and float(mine['SMAPE']) < NOISE or math.isnan(float(m['SMAPE'])):
                continue
            same = shape(m['function']['text']) == shape(mine['function'])
            if same and len(parameters) > 1 and float(mine['RSS']) <= float(m['RSS']) * (1 + 1e-6):
                continue  # an ill-conditioned fit, and no worse
            self.assertTrue(close(m['SMAPE'], mine['SMAPE']), f'{m["callpath"]}: {m["function"]["text"]} and {mine["function"]}: {m["SMAPE"]} and {mine["SMAPE"]}')
            if same:
                self.assertTrue(close(m['RSS'], mine['RSS']) or float(m['RSS']) < NOISE, f'{m["callpath"]}: RSS {m["RSS"]} and {mine["RSS"]}')
            else:
                self.assertTrue(close(m['SMAPE'], mine['SMAPE'], 1e-9), f'no tie: {m["function"]["text"]} and {mine["function"]}')
        return len(models)

    def test_same_as_extra_p(self):
        compared = 0
        for d in oracles():
            for run, r in d.get('runs', {}).items():
                with self.subTest(input=d['input'], run=run):
                    if 'models' in r:
                        compared += self.check(os.path.join(ROOT, d['input']), d['parameters'], run, r['models'])
        self.assertGreater(compared, 500)


if __name__ == '__main__':
    main()
