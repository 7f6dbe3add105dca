"""Random captures, read by assay and by a second reader made from the document alone: all tables are the same, also after `convert`, `merge` and `convert --append`.
More of them: python3 test_afperf_model.py FIRST_SEED LAST_SEED"""
import os
import sys
import unittest

import afperf_compare
import afperf_model
import afperf_random
from common import ASSAY, Case, run

MODES = ['ordered', 'shuffled', 'blocks', 'blank']


def differences_of(path, model, problems=True):
    status, got = afperf_compare.ask(ASSAY, path)
    if status:
        return [('status', 0, (status, got))]
    comparison = afperf_compare.Comparison(model, got)
    if problems:
        comparison.compare_problems()
    return comparison.differences


class Captures(Case):
    seeds = range(0, 24)

    def capture(self, name, seed, mode, **more):
        path = self.path(name)
        data = afperf_random.Capture(seed, mode, **more).data
        with open(path, 'wb') as f:
            f.write(data)
        return path, afperf_model.Model(data)

    def check(self, what, differences):
        self.assertEqual(differences[:3], [], what)

    def test_tables(self):
        for seed in self.seeds:
            for mode in MODES:
                path, model = self.capture('a.afperf', seed, mode)
                self.check((seed, mode), differences_of(path, model))
                _, got = afperf_compare.ask(ASSAY, path, '-O', 'deduct_pauses=yes')
                comparison = afperf_compare.Comparison(model, got, deducts=True)
                self.check((seed, mode, 'without pauses'), comparison.differences)

    def test_pieces(self):
        """The reader cuts files into pieces of a megabyte, at any record and inside of quoted fields: comments of that size move the cuts."""
        for seed in self.seeds[:6]:
            path, model = self.capture('a.afperf', seed, MODES[seed % 4])
            records = afperf_model.split(model.data)
            if len(records) < 3:
                continue
            at = records[len(records) // 2][0]
            for size in (1 << 20) - 40 - at, (1 << 20) - 17:
                with open(path, 'wb') as f:
                    f.write(model.data[:at] + b'#' + b'"x,' * (size // 3) + b'\n' + model.data[at:])
                self.check((seed, size), differences_of(path, model, problems=False))

    def test_copies(self):
        for seed in self.seeds[:12]:
            mode = MODES[seed % 4]
            path, model = self.capture('a.afperf', seed, mode)
            out = self.path('out.afperf')
            self.assertEqual(run('convert', path, out).status, 0)
            self.check((seed, mode), differences_of(out, model, problems=False))
            with open(out, 'rb') as f:
                self.check((seed, mode), differences_of(out, afperf_model.Model(f.read())))
            os.remove(out)

    def test_containers(self):
        for seed in self.seeds[:12]:
            path, model = self.capture('a.afperf', seed, None)
            other, more = self.capture('b.afperf', seed + 1000, None)
            expected = afperf_compare.without_ids(model) + afperf_compare.without_ids(more, len(model.order_of_runs))
            out = self.path('all.afperf')
            self.assertEqual(run('merge', path, other, '-o', out).status, 0)
            self.assertEqual(run('convert', '--append', other, path).status, 0)
            for result in out, path:
                with open(result, 'rb') as f:
                    data = f.read()
                both = afperf_model.Model(data)
                found = afperf_compare.without_ids(both)
                self.assertEqual((expected - found, found - expected), ({}, {}), (seed, result))
                self.check((seed, result), differences_of(result, both))
            self.assertTrue(data.startswith(model.data))
            os.remove(out)


if __name__ == '__main__':
    if len(sys.argv) == 3:
        Captures.seeds = range(int(sys.argv[1]), int(sys.argv[2]))
        del sys.argv[1:]
    unittest.main()
