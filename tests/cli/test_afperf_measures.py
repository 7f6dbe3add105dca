"""Measures that only some regions of a capture have: the regions around them have their sum. Expected numbers are arithmetic by hand."""
import unittest

from captures import SIGNATURE, region, run_info
from common import Case, run

MEASURES = 'MeasurementType,100,0x1,0xa,flops,int64,count,,\nMeasurementType,100,0x1,0xb,energy,double,J,,\n'


def measured(number, flops, energy):
    return f'RegionAggregate,110,100,{number:#x},,0xa,{flops},0xb,{energy}\n'


# main and step are not measured; below step solve (5 flops) and io (2); beside step report (1), and in it, not added again, page (1).
INNER = (SIGNATURE + run_info() + MEASURES + region(0x10, 'main', 0, 20) + region(0x11, 'step', 1, 10) + region(0x12, 'solve', 1, 5, more=measured(0x12, 5, 0.5)) +
         region(0x13, 'io', 6, 8, more=measured(0x13, 2, 0.25)) + region(0x14, 'report', 11, 15, more=measured(0x14, 1, 4)) + region(0x15, 'page', 12, 13, more=measured(0x15, 1, 1)))


class Gaps(Case):
    def test_regions_around_have_the_sum(self):
        path = self.write('inner.afperf', INNER)
        rows = run('sql', '--json', path, 'select m.name as metric, c.path as path, n.inclusive as inclusive, n.exclusive as exclusive from node n '
                   "join metric m on m.id = n.metric join context c on c.id = n.context where m.name in ('flops', 'energy')").json
        got = {(row['metric'], row['path']): (row['inclusive'], row['exclusive']) for row in rows}
        self.assertEqual({('flops', 'main'): (8, 0), ('flops', 'main->step'): (7, 0), ('flops', 'main->step->solve'): (5, 5), ('flops', 'main->step->io'): (2, 2),
                          ('flops', 'main->report'): (1, 0), ('flops', 'main->report->page'): (1, 1),
                          ('energy', 'main'): (4.75, 0), ('energy', 'main->step'): (0.75, 0), ('energy', 'main->step->solve'): (0.5, 0.5), ('energy', 'main->step->io'): (0.25, 0.25),
                          ('energy', 'main->report'): (4, 3), ('energy', 'main->report->page'): (1, 1)}, got)
        self.assertTrue(all(isinstance(value, int) for (metric, _), values in got.items() if metric == 'flops' for value in values))

    def test_records_are_those_of_the_file(self):
        path = self.write('inner.afperf', INNER)
        self.assertEqual(8, run('sql', '--json', path, 'select count(*) as n from record').json[0]['n'])


if __name__ == '__main__':
    unittest.main()
