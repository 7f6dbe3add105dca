"""docs/perun-api.md: its commands, run on the corpus' profiles, give what Perun's own functions gave (corpus/perun/oracle/profiles)."""
import csv
import functools
import json
import math
import os
import re
import shlex
import subprocess
import sys
import tempfile
import unittest

ASSAY, SOURCE = os.environ['ASSAY'], os.environ['ASSAY_SOURCE']
ROOT = os.path.normpath(os.path.join(os.environ.get('ASSAY_CORPUS') or os.path.join(SOURCE, '..', 'shared', 'corpus'), 'perun'))


def commands():
    """The commands of each section of the page."""
    with open(os.path.join(SOURCE, 'docs', 'perun-api.md'), encoding='utf-8') as f:
        sections = re.split(r'^## ', f.read(), flags=re.M)[1:]
    return {s.split('\n', 1)[0].strip(): [c for b in re.findall(r'^```sh\n(.*?)^```', s, re.S | re.M) for c in b.splitlines()] for s in sections}


PAGE = commands()


def command(section, number, path, **replace):
    words = shlex.split(PAGE[section][number])
    for old, new in replace.items():
        words = [w.replace(old, new) for w in words]
    return [ASSAY if w == 'assay' else path if w == 'P.perf' else w for w in words]


def ask(words, folder=None):
    p = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=folder, timeout=60)
    if p.returncode:
        raise AssertionError(f'{" ".join(words)}: exit {p.returncode}: {p.stderr.decode()}')
    return p.stdout.decode()


def rows(section, number, path, **replace):
    words = command(section, number, path, **replace)
    return json.loads(ask(words if '--json' in words else words[:2] + ['--json'] + words[2:]))


@functools.cache
def profiles():
    """(path, Perun's answers) of the profiles that Perun can load."""
    pairs = []
    folder = os.path.join(ROOT, 'oracle', 'profiles')
    for name in sorted(os.listdir(folder)):
        path = os.path.join(ROOT, 'profiles', name[:-len('.json')])
        with open(os.path.join(folder, name), encoding='utf-8') as f:
            oracle = json.load(f)
        if oracle.get('load') == 'ok' and os.path.exists(path):
            pairs.append((path, oracle))
    return pairs


def plain(value):
    """As a table has it: Perun's null is no value, its booleans are numbers."""
    if isinstance(value, bool):
        return int(value)
    return {'NaN': 'nan', 'Infinity': 'inf', '-Infinity': '-inf'}.get(value, value) if isinstance(value, str) else value


def same(a, b):
    if isinstance(a, (int, float)) and isinstance(b, (int, float)):
        return a == b or math.isclose(a, b, rel_tol=1e-12)
    return a == b


def for_each_profile(test):
    def run(self):
        self.assertTrue(profiles(), 'no profiles')
        for path, oracle in profiles():
            with self.subTest(os.path.basename(path)):
                test(self, path, oracle)
    return run


@functools.cache
def columns(path, table):
    return {r['name'] for r in json.loads(ask([ASSAY, 'sql', '--json', path, f"select name from pragma_table_info('{table}')"]))}


class Api(unittest.TestCase):
    def test_page_names_all(self):
        self.assertEqual(14, len(PAGE))
        for name, lines in PAGE.items():
            self.assertTrue(lines, name)

    @for_each_profile
    def test_resources(self, path, oracle):
        got = [{k: v for k, v in r.items() if v is not None and k not in ('id', 'run')} for r in rows('all_resources', 0, path)]
        first = [{k: plain(v) for k, v in r.items() if v is not None} for _, r in oracle['all_resources_flattened_first200']]
        self.assertEqual(oracle['counts']['resources'], len(got))
        left = list(got)
        for wanted in first:    # Perun has them type by type
            hit = next((r for r in left if r.keys() == wanted.keys() and all(same(r[k], wanted[k]) for k in r)), None)
            self.assertIsNotNone(hit, wanted)
            left.remove(hit)

    @for_each_profile
    def test_snapshots(self, path, oracle):
        if not isinstance(oracle['snapshots'], list) or 'snapshot' not in columns(path, 'record'):
            return
        self.assertEqual([s for s in oracle['snapshots'] if s[1]], [[r['snapshot'], r['resources']] for r in rows('all_snapshots', 0, path)])

    @for_each_profile
    def test_fields(self, path, oracle):
        self.assertEqual(oracle['all_resource_fields_sorted'], sorted(r['name'] for r in rows('all_resource_fields', 0, path)))

    @for_each_profile
    def test_numerical_fields(self, path, oracle):
        wanted = oracle['all_numerical_resource_fields_sorted']
        if isinstance(wanted, list):
            self.assertEqual(wanted, sorted(r['name'] for r in rows('all_numerical_resource_fields_of', 0, path)))

    @for_each_profile
    def test_models(self, path, oracle):
        got = rows('all_models', 0, path)
        if not any(r.get('snapshot') is not None for r in got):
            self.assertEqual(oracle['counts']['models'], len(got))
        self.assertEqual(len(got), len(ask(command('models_to_pandas_dataframe', 0, path, **{'models.csv': '-'})).splitlines() or ['']) - 1 if got else 0)

    @for_each_profile
    def test_filtered_models(self, path, oracle):
        for strategy in ('best-model', 'best-param', 'best-nonparam', 'all-param', 'all-nonparam'):
            wanted = oracle['all_filtered_models ' + strategy]
            if 'error' in wanted:
                continue
            models = rows('all_filtered_models', 0, path, **{'best-model': strategy})['models']
            got = {m['uid'] + (m['model'] if strategy.startswith('all') else ''): m for m in models}
            self.assertEqual(sorted(wanted), sorted(got), strategy)
            for uid, model in wanted.items():
                self.assertEqual(model['type'], got[uid]['model'])
                self.assertTrue(same(plain(model['r_square']), got[uid]['r_square']))

    @for_each_profile
    def test_data_frame(self, path, oracle):
        with tempfile.TemporaryDirectory() as folder:
            ask(command('resources_to_pandas_dataframe', 0, path), folder)
            with open(os.path.join(folder, 'P.csv'), newline='', encoding='utf-8') as f:
                table = list(csv.reader(f))
            self.assertEqual(oracle['dataframe']['rows'], len(table) - 1)
            self.assertEqual(sorted(set(oracle['dataframe']['columns_sorted']) - {'snapshots'}), sorted(set(table[0]) - {'id', 'run'}))

    @for_each_profile
    def test_flame_graph(self, path, oracle):
        wanted = oracle['flame_graph']
        if 'lines' in wanted and wanted['lines'] == len(wanted['first200']):
            self.assertEqual(wanted['first200'], ask(command('to_flame_graph_format', 0, path)).splitlines(keepends=True))

    @for_each_profile
    def test_plot_data(self, path, oracle):
        wanted = oracle['plot_data_from_coefficients_of']
        if not wanted or not isinstance(wanted, list):
            return
        models = rows('plot_data_from_coefficients_of', 0, path)['models']
        for w in wanted:
            # a quadratic of two coefficients is a + b x^2 in the files of 2018 that have it; Perun takes it for a line
            if 'plot_x' not in w or (w['model'] == 'quadratic' and len(w['coeffs']) < 3):
                continue
            for key in ('plot_x', 'plot_y'):
                self.assertEqual(len(w[key]), len(models[w['i']][key]))
                for a, b in zip(w[key], models[w['i']][key]):
                    self.assertTrue(math.isclose(float(a), float(b), rel_tol=1e-9, abs_tol=1e-12), (w['i'], key, a, b))

    @for_each_profile
    def test_items(self, path, oracle):
        first = [{k: plain(v) for k, v in r if v is not None} for r in oracle['all_items_of_first3'][:1]]
        got = [{k: v for k, v in r.items() if v is not None and k not in ('id', 'run')} for r in rows('all_items_of', 0, path)]
        self.assertEqual(len(first), len(got))
        for wanted, row in zip(first, got):    # the first of the file is the first of the first type
            self.assertEqual(wanted.keys(), row.keys())
            self.assertTrue(all(same(wanted[k], row[k]) for k in row), (wanted, row))

    @for_each_profile
    def test_unique_values(self, path, oracle):
        known = columns(path, 'record')
        for key, wanted in oracle['unique_resource_values_of'].items():
            if 'error' in wanted or '::' in key or key not in known or any(isinstance(v, (dict, list)) for v in wanted['first']):
                continue
            got = [list(r.values())[0] for r in rows('unique_resource_values_of', 0, path, uid=f'"{key}"')]
            first = [plain(v) for v in wanted['first'] if v is not None]
            self.assertEqual(wanted['n'] - (len(wanted['first']) - len(first)), len(got), key)
            self.assertTrue(all(any(same(v, g) for g in got) for v in first), key)

    @for_each_profile
    def test_unique_values_of_frames(self, path, oracle):
        for key in ('function', 'func', 'line'):
            wanted = oracle['unique_resource_values_of'].get('trace::' + key)
            if 'error' in wanted or key not in columns(path, 'frame'):
                continue
            got = [list(r.values())[0] for r in rows('unique_resource_values_of', 2, path, function=key)]
            self.assertEqual(wanted['n'], len(got), key)
            self.assertTrue(set(wanted['first']) <= set(got))

    @for_each_profile
    def test_key_values(self, path, oracle):
        first = oracle['all_key_values_of_first3'][:1]
        for wanted in first:
            if 'function' in columns(path, 'frame'):
                self.assertEqual(wanted['trace::function'], [r['function'] for r in rows('all_key_values_of', 1, path) if r['function'] is not None])
            if 'uid:function' in columns(path, 'record') and not isinstance(wanted['uid:function'], dict):
                self.assertEqual(wanted['uid:function'], [v for r in rows('all_key_values_of', 0, path) for v in r.values() if v is not None])

    @for_each_profile
    def test_unique_model_values(self, path, oracle):
        if not oracle['counts']['models']:
            return
        known, all_wanted = columns(path, 'stored_model'), oracle['unique_model_values_of']
        for key in ('model', 'r_square', 'uid', 'method', 'x_start', 'x_end', 'moving_method'):
            if key not in known:
                self.assertEqual(0, all_wanted[key]['n'], key)
                continue
            got = [list(r.values())[0] for r in rows('unique_model_values_of', 0, path, **{'select model': f'select {key}', 'where model': f'where {key}', 'group by model': f'group by {key}'})]
            if any(isinstance(v, (dict, list)) for v in all_wanted[key]['first']):
                continue
            self.assertEqual(all_wanted[key]['n'], len(got), key)
            self.assertTrue(all(any(same(plain(v), g) for g in got) for v in all_wanted[key]['first']), key)
        self.assertEqual(set(all_wanted['coeffs::name']['first']), {r['name'] for r in rows('unique_model_values_of', 1, path)})


if __name__ == '__main__':
    if not os.path.isdir(os.path.join(ROOT, 'oracle')):
        print(f'no corpus at {ROOT}; set ASSAY_CORPUS to test against one')
        sys.exit(77)
    unittest.main()
