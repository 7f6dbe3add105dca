"""What the shared library shows to the world: the functions of assay/assay.h and nothing else."""
import os
import re
import subprocess
import unittest

LIBRARY = os.path.join(os.environ['ASSAY_BUILD'], 'libassay.so')
HEADER = os.path.join(os.environ['ASSAY_SOURCE'], 'include', 'assay', 'assay.h')


class Library(unittest.TestCase):
    def test_exports_the_header_and_nothing_else(self):
        lines = subprocess.run(['nm', '-D', '--defined-only', LIBRARY], check=True, capture_output=True, text=True).stdout.splitlines()
        exported = {line.split()[-1].split('@')[0] for line in lines}
        with open(HEADER) as f:
            declared = set(re.findall(r'ASSAY_API\s[^;(]*?(assay_\w+)\s*\(', f.read()))
        self.assertGreater(len(declared), 15)
        self.assertEqual(declared, exported)

    def test_soname(self):
        head = subprocess.run(['objdump', '-p', LIBRARY], check=True, capture_output=True, text=True).stdout
        self.assertRegex(head, r'SONAME\s+libassay\.so\.0\n')


if __name__ == '__main__':
    unittest.main()
