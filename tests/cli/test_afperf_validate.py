"""`assay validate` of AFPerf captures: a file for each rule of the document, and the place where it is broken."""
import json
import unittest

from common import Case, run

S = '# AFPerf v1     \n'
RUN = 'RunInfo,100,nanoseconds,1.5,1.0.0,0x1,app,2,\n'
MEASURES = 'MeasurementType,100,0x1,0xa,T,double,s,,\nMeasurementType,100,0x1,0xb,B,bool,count,,\n'
REGION = 'RegionStart,110,0x1,0x10,a,\nRegionStop,150,0x10\n'
SECTION = 'SectionInfo,,0x1,0x20,s,\nSectionStart,110,0x20,1\nSectionStop,120,0x20,1\n'
ALL = S + RUN + MEASURES + REGION + SECTION  # 9 lines

# What the document asks for, a file that does otherwise, and (rule, severity, line, column).
RULES = [
    ('UTF-8', (ALL + 'RegionStart,160,0x1,0x11,').encode() + b'a\xffb,\nRegionStop,170,0x11\n', ('utf8', 'warning', 10, 27)),
    ('raw records have a record id', ALL + 'RegionAggregate,150,110,,,0xa,1\n', ('aggregate', 'note', 10, 1), ('orphan', 'warning', 10, 1)),
    ('processed records have the id of the run', ALL + 'RegionAggregate,150,110,0x10,sum,0xa,1\n', ('aggregate', 'warning', 10, 1)),
    ('processed records have the id of the run: sections', ALL + 'SectionAggregate,150,110,0x20,1,sum,0xa,1\n', ('aggregate', 'warning', 10, 1)),
    ('no interval id where the record id is blank', ALL + 'SectionAggregate,150,110,,1,sum,0xa,1\n', ('aggregate', 'warning', 10, 1)),
    ('raw records have the id of a region', ALL + 'RegionAggregate,150,110,0x1,,0xa,1\n', ('orphan', 'warning', 10, 1)),
    ('raw records have the id of a section', ALL + 'SectionAggregate,120,110,0x1,1,,0xa,1\n', ('orphan', 'warning', 10, 1)),
    ('an aggregate ends after its start', ALL + 'RegionAggregate,110,150,0x10,,0xa,1\n', ('backwards', 'error', 10, 1)),
    ('integers are decimal or hexadecimal', ALL + 'RegionStop,0b11,0x10\n', ('number', 'error', 10, 12)),
    ('floating-point numbers end with blanks', ALL + 'RunPoint,110,0x1,0xa,1.5 s\n', ('value', 'error', 10, 22)),
    ('later signatures are the same', ALL + '# AFPerf v1\n', ('signature', 'warning', 10, 1)),
    ('later signatures are the same: minor version', ALL + '# AFPerf v1.2   \n', ('signature', 'warning', 10, 1)),
    ('the version of a run', S + RUN.replace('1.0.0', '2.0.0') + REGION, ('version', 'warning', 2, 1)),
    ('the version of a run is three numbers', S + RUN.replace('1.0.0', '1.0') + REGION, ('version', 'warning', 2, 29)),
    ('ids have 64 bits', ALL + 'RegionStop,160,0x10000000000000000\n', ('number', 'error', 10, 16)),
    ('ids are unsigned', ALL + 'RegionStop,160,-3\n', ('number', 'error', 10, 16)),
    ('blank ids need block order', S + 'RegionStop,10,\n' + RUN, ('orphan', 'warning', 2, 1)),
    ('time stamps are not negative', ALL + 'RegionStart,-5,0x1,0x11,b,\n', ('number', 'error', 10, 13)),
    ('records begin with their type', ALL + ',160,0x1\n', ('unknown-record', 'warning', 10, 1)),
    ('record type 0 is reserved', ALL + '0,160,0x1\n', ('record-type', 'error', 10, 1)),
    ('each run registers its measurements', ALL + RUN.replace('0x1,', '0x2,') + 'RunPoint,110,0x2,0xa,1\n', ('orphan', 'warning', 11, 18)),
    ('datatypes', S + RUN + 'MeasurementType,100,0x1,0xa,T,float,s,,\n', ('datatype', 'warning', 3, 1)),
    ('bool is 0 or 1', ALL + 'RunPoint,110,0x1,0xb,2\n', ('value', 'error', 10, 22)),
    ('bool is literally 0 or 1', ALL + 'RunPoint,110,0x1,0xb,0x1\nRunPoint,110,0x1,0xb,01\n', ('value', 'error', 10, 22), ('value', 'error', 11, 22)),
    ('units are given', S + RUN + 'MeasurementType,100,0x1,0xa,T,double,,,\n', ('units', 'warning', 3, 1)),
    ('units should be known ones', S + RUN + 'MeasurementType,100,0x1,0xa,T,double,furlongs,,\n', ('units', 'note', 3, 1)),
    ('text is for strings', S + RUN + 'MeasurementType,100,0x1,0xa,T,enum,text,,\n', ('units', 'warning', 3, 1)),
    ('count is for numbers', S + RUN + 'MeasurementType,100,0x1,0xa,T,string,count,,\n', ('units', 'warning', 3, 1)),
    ('units of time are abbreviated', S + RUN + 'MeasurementType,100,0x1,0xa,T,double,msec,,\n', ('units', 'warning', 3, 1)),
    ('amounts of data have standard units', S + RUN + 'MeasurementType,100,0x1,0xa,T,int64,KB,,\nMeasurementType,100,0x1,0xb,U,int64,bytes,,\n', ('units', 'warning', 3, 1), ('units', 'warning', 4, 1)),
    ('units of time stamps', S + RUN.replace('nanoseconds', 'hours') + REGION, ('units', 'warning', 2, 13)),
    ('units of time stamps in full', S + RUN.replace('nanoseconds', 'ns') + REGION, ('units', 'warning', 2, 1)),
    ('tags of runs are those of users', S + RUN[:-1] + 'hostname=n7\n' + REGION, ('tags', 'note', 2, 1)),
    ('a region id is used once', ALL + 'RegionStart,160,0x1,0x10,a,\nRegionStop,170,0x10\n', ('duplicate', 'warning', 10, 1)),
    ('a section id is used once', ALL + 'SectionInfo,,0x1,0x20,t,\n', ('duplicate', 'warning', 10, 1)),
    ('an interval id is used once', ALL + 'SectionStart,130,0x20,1\nSectionStop,140,0x20,1\n', ('duplicate', 'warning', 10, 1)),
    ('a run id is used once', ALL + RUN, ('duplicate', 'warning', 10, 1)),
    ('regions nest', S + RUN + 'RegionStart,110,0x1,0x1a,a,\nRegionStart,120,0x1,0x1b,b,\nRegionStop,130,0x1a\nRegionStop,140,0x1b\n', ('overlap', 'error', 4, 1)),
    ('a region ends after its start', S + RUN + 'RegionStart,110,0x1,0x10,a,\nRegionStop,109,0x10\n', ('backwards', 'error', 3, 1)),
    ('an interval ends after its start', ALL + 'SectionStart,130,0x20,2\nSectionStop,129,0x20,2\n', ('backwards', 'error', 10, 1)),
    ('a pause ends after its start', ALL + 'PauseResume,129,130,0x1\n', ('backwards', 'error', 10, 1)),
    ('regions have a stop', ALL + 'RegionStart,160,0x1,0x11,a,\n', ('unfinished', 'warning', 10, 1)),
    ('intervals have a stop', ALL + 'SectionStart,160,0x20,2\n', ('unfinished', 'warning', 10, 1)),
    ('stops have a start', ALL + 'RegionStop,160,0x11\n', ('orphan', 'warning', 10, 1)),
    ('fields that are required', ALL + 'RegionStart,160,0x1\n', ('missing', 'error', 10, 1)),
    ('values that are required', ALL + 'RunPoint,160,0x1,0xa\n', ('missing', 'error', 10, 1)),
    ('the version of RunInfo', S + RUN.replace('1.0.0,', '') + REGION, ('omitted', 'warning', 2, 1)),
    ('the run of RegionStart', ALL + 'RegionStart,160,0x11,a,\nRegionStop,170,0x11\n', ('omitted', 'warning', 10, 1)),
    ('the run of SectionInfo', ALL + 'SectionInfo,,0x21,t,\n', ('omitted', 'warning', 10, 1)),
    ('fields beyond the format', ALL + 'RegionStart,160,0x1,0x11,a,,x\nRegionStop,170,0x11\n', ('extra', 'note', 10, 1)),
    ('unknown records of later versions', (ALL + 'Novelty,1\n').replace('1.0.0', '1.1.0'), ('unknown-record', 'note', 10, 1)),
]
# What ends the reading: exit 3 where no more can be said, and the place.
FATAL = [
    ('no signature', RUN, 'afperf-signature', 1, 1),
    ('a byte order mark', '\ufeff' + ALL, 'afperf-byte-order-mark', 1, 1),
    ('another version', '# AFPerf v2     \n' + RUN, 'afperf-version', 1, 1),
    ('another version later', ALL + '# AFPerf v2     \n', 'afperf-version', 10, 1),
    ('a quote inside a field', ALL + 'RegionStart,160,0x1,0x11,a"b,\n', 'afperf-quoting', 10, 27),
    ('bytes behind a quote', ALL + 'RegionStart,160,0x1,0x11,"a"b,\n', 'afperf-quoting', 10, 29),
    ('an open quote', ALL + 'RegionStart,160,0x1,0x11,"a,\n', 'afperf-quoting', 10, 26),
]


class Validate(Case):
    def problems(self, text):
        result = run('validate', '--json', '--from', 'afperf', self.write('a.afperf', text))
        return result.status, json.loads(result.out)

    def test_nothing_is_wrong(self):
        text = ALL + ('RegionAggregate,150,110,0x10,,0xa,1\nRegionAggregate,150,110,0x1,sum,0xa,1\nRunPoint,120,0x1,0xb,1\nSectionAggregate,150,110,,,max,0xa,1\nPauseResume,130,130,0x1\n' + S
                      + ''.join(f'MeasurementType,100,0x1,{i},m{i},int64,{unit},,\n' for i, unit in enumerate(['B', 'bit', 'kB', 'KiB', 'MiB', 'Gbit', 'ns', 'µs', 'us', 'ms', 's', 'count'], 20))
                      + 'MeasurementType,100,0x1,40,text,string,text,,\n')
        status, found = self.problems(text)
        self.assertEqual((0, []), (status, self.list_of(found)))

    def list_of(self, found):
        problems = found['problems'] if isinstance(found, dict) else found
        return [(p['rule'][len('afperf-'):], p['severity'], p['line'], p['column']) for p in problems]

    def test_rules(self):
        for what, text, *expected in RULES:
            with self.subTest(what):
                status, found = self.problems(text)
                found = self.list_of(found)
                self.assertEqual(sorted(expected), sorted(found))
                self.assertEqual(1 if any(e[1] == 'error' for e in expected) else 0, status)

    def test_what_ends_the_reading(self):
        for what, text, rule, line, column in FATAL:
            with self.subTest(what):
                path = self.write('a.afperf', text)
                result = run('info', '--from', 'afperf', path)
                self.assertFails(result, 3, f'{path}:{line}:{column}: ')
                result = run('validate', '--from', 'afperf', path)
                self.assertIn(result.status, (1, 3))
                self.assertIn(f'{path}:{line}:{column}: ', result.out + result.err)
                self.assertIn(rule, result.out + result.err)


if __name__ == '__main__':
    unittest.main()
