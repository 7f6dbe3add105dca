"""model --print: what Extra-P would print, and models in files that it opens. Constant data give the same digits everywhere."""
import json
import unittest
import zipfile

import common

# One call path is always 2.5; the other doubles with p up to 16 and stays at 1000 from 32 on.
POINTS = (1, 2, 4, 8, 16, 32, 64, 128, 256)
TEXT = ('PARAMETER p\nPOINTS ' + ' '.join(map(str, POINTS)) + '\nMETRIC time\nREGION main\n' + 'DATA 2.5 2.5\n' * len(POINTS) +
        'REGION main->f\n' + ''.join(f'DATA {2 * p if p <= 16 else 1000}\n' for p in POINTS))
CONSTANT = '\n'.join(TEXT.splitlines()[:4 + len(POINTS)]) + '\n'


class Print(common.Case):
    def printed(self, what, text=CONSTANT, *options):
        result = common.run('model', self.write('runs.txt', text), '--print', what, *options)
        self.assertEqual((0, ''), (result.status, result.err), result)
        return result.out

    def test_presets_in_any_case(self):
        self.assertEqual('main\nmain->f\n\n', self.printed('CallPaths', TEXT))
        self.assertEqual('2.5\n\n', self.printed('functions'))
        self.assertEqual('2.5\n\n', self.printed('FUNCTIONS-LATEX'))
        expected = 'Callpath: main\n\tMetric: time\n'
        for p in POINTS:
            expected += f'\t\tMeasurement point: ({p:.2E}) Mean: 2.50E+00 Median: 2.50E+00\n'
        expected += '\t\tModel: 2.5\n\t\tRSS: 0.00E+00\n\t\tAdjusted R^2: 1.00E+00\n\n'
        self.assertEqual(expected, self.printed('all'))

    def test_formats(self):
        self.assertEqual('main| time| 2.5000| 1\n\n', self.printed('{callpath}| {metric}| {model}000| {ar2}'))
        self.assertEqual('1 2 4 8 16 32 64 128 256\n\n',
                         self.printed("{points: sep:' '; format:'{point: format:'{coordinate:.0f}'}'}"))

    def test_prints_to_a_file(self):
        target = self.path('answer.txt')
        self.assertEqual('', self.printed('{model}', CONSTANT, '-o', target))
        with open(target, encoding='utf-8') as file:
            self.assertEqual('2.5\n\n', file.read())

    def test_wrong_formats_are_told_before_anything_is_read(self):
        result = common.run('model', self.path('missing.txt'), '--print', '{callpath} {modle}')
        self.assertEqual(2, result.status)
        self.assertIn("--print, column 12: '{modle}': no placeholder of this name", result.err)
        self.assertEqual(1, result.err.count('\n'))

    def test_written_models_are_those_of_extrap(self):
        target = self.path('out.extra-p')
        result = common.run('model', self.write('runs.txt', TEXT), '--modeler', 'segmented', '-O', 'allow_log_terms=no', '-o', target)
        self.assertEqual(0, result.status, result)
        with zipfile.ZipFile(target) as archive:
            modelers = json.loads(archive.read('experiment.json'))['modelers']
        modeler = modelers[0]['modeler']
        self.assertEqual(('SegmentedModeler', False, True), (modeler['$type'], modeler['allow_log_terms'], modeler['use_crossvalidation']))
        model = modelers[0]['models']['main->f']['time']
        self.assertEqual('SegmentedModel', model['$type'])
        self.assertEqual([[16.0], [32.0]], [change['coordinate'] for change in model['changing_points']])
        self.assertEqual([32.0, 1000.0], [change['mean'] for change in model['changing_points']])
        kinds = [segment['hypothesis']['function']['$type'] for segment in model['segment_models']]
        self.assertEqual(['SingleParameterFunction', 'ConstantFunction'], kinds)
        self.assertEqual(1000.0, model['segment_models'][1]['hypothesis']['function']['constant_coefficient'])


if __name__ == '__main__':
    unittest.main()
