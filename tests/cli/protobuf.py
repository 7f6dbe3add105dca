"""Protocol Buffers in Python, straight from the encoding document: a decoder that knows no schema, an encoder for
tests, and the schemas of pprof's profile.proto and of the parts of Perfetto's trace that are written."""
import gzip
import struct


def varint(data, at):
    number, shift = 0, 0
    while True:
        byte = data[at]
        at += 1
        number |= (byte & 0x7F) << shift
        shift += 7
        if not byte & 0x80:
            return number, at
        if shift >= 70:
            raise ValueError("a varint of more than ten bytes")


def fields(data):
    """(field number, wire type, value) of each field; the value is an int or bytes."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        kind = key & 7
        if kind == 0:
            value, at = varint(data, at)
        elif kind == 1:
            value, at = struct.unpack_from("<Q", data, at)[0], at + 8
        elif kind == 5:
            value, at = struct.unpack_from("<I", data, at)[0], at + 4
        elif kind == 2:
            size, at = varint(data, at)
            if at + size > len(data):
                raise ValueError("a field that is too long")
            value, at = data[at:at + size], at + size
        else:
            raise ValueError("wire type %d" % kind)
        yield key >> 3, kind, value


def signed(number):
    return number - (1 << 64) if number >> 63 else number


class Message:
    """A message by its schema: {number: (name, kind)}, kind being int, uint, text, real, or another schema; a kind in a
    list is a repeated field. What the schema does not know is an error."""

    def __init__(self, schema, data):
        for name, kind in schema.values():
            setattr(self, name, [] if isinstance(kind, list) else "" if kind == "text" else None
                    if isinstance(kind, dict) else 0)
        for number, wire, value in fields(data):
            name, kind = schema[number]
            one = kind[0] if isinstance(kind, list) else kind
            expected = 2 if isinstance(one, dict) or one == "text" else 1 if one == "real" else 0
            if wire != expected and not (wire == 2 and expected == 0 and isinstance(kind, list)):
                raise ValueError("%s has the wire type %d" % (name, wire))
            if isinstance(one, dict):
                values = [Message(one, value)]
            elif one == "text":
                values = [value.decode()]
            elif one == "real":
                values = [struct.unpack("<d", struct.pack("<Q", value))[0]]
            elif wire == 2:  # packed
                values, at = [], 0
                while at < len(value):
                    number, at = varint(value, at)
                    values.append(number)
            else:
                values = [value]
            if one == "int":
                values = [signed(v) for v in values]
            if isinstance(kind, list):
                getattr(self, name).extend(values)
            else:
                setattr(self, name, values[-1])


# ---- writing ---------------------------------------------------------------------------------------------------------

def put_varint(number):
    number &= (1 << 64) - 1
    out = bytearray()
    while number >= 0x80:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def put(field, value):
    """A field: an int as a varint, bytes or str with their length, a list of ints packed."""
    if isinstance(value, int):
        return put_varint(field << 3) + put_varint(value)
    if isinstance(value, str):
        value = value.encode()
    if isinstance(value, (list, tuple)):
        value = b"".join(put_varint(v) for v in value)
    return put_varint(field << 3 | 2) + put_varint(len(value)) + value


# ---- pprof -----------------------------------------------------------------------------------------------------------

VALUE_TYPE = {1: ("type", "int"), 2: ("unit", "int")}
LABEL = {1: ("key", "int"), 2: ("str", "int"), 3: ("num", "int"), 4: ("num_unit", "int")}
SAMPLE = {1: ("location_id", ["uint"]), 2: ("value", ["int"]), 3: ("label", [LABEL])}
MAPPING = {1: ("id", "uint"), 2: ("memory_start", "uint"), 3: ("memory_limit", "uint"), 4: ("file_offset", "uint"),
           5: ("filename", "int"), 6: ("build_id", "int"), 7: ("has_functions", "uint"), 8: ("has_filenames", "uint"),
           9: ("has_line_numbers", "uint"), 10: ("has_inline_frames", "uint")}
LINE = {1: ("function_id", "uint"), 2: ("line", "int"), 3: ("column", "int")}
LOCATION = {1: ("id", "uint"), 2: ("mapping_id", "uint"), 3: ("address", "uint"), 4: ("line", [LINE]),
            5: ("is_folded", "uint")}
FUNCTION = {1: ("id", "uint"), 2: ("name", "int"), 3: ("system_name", "int"), 4: ("filename", "int"),
            5: ("start_line", "int")}
PROFILE = {1: ("sample_type", [VALUE_TYPE]), 2: ("sample", [SAMPLE]), 3: ("mapping", [MAPPING]),
           4: ("location", [LOCATION]), 5: ("function", [FUNCTION]), 6: ("string_table", ["text"]),
           7: ("drop_frames", "int"), 8: ("keep_frames", "int"), 9: ("time_nanos", "int"),
           10: ("duration_nanos", "int"), 11: ("period_type", VALUE_TYPE), 12: ("period", "int"),
           13: ("comment", ["int"]), 14: ("default_sample_type", "int"), 15: ("doc_url", "int")}


class Profile:
    """A pprof profile with names in the place of numbers."""

    def __init__(self, path):
        with open(path, "rb") as file:
            data = file.read()
        self.raw = Message(PROFILE, gzip.decompress(data))
        self.strings = self.raw.string_table
        assert self.strings[0] == "", "the first string must be empty"
        self.types = [(self.strings[t.type], self.strings[t.unit]) for t in self.raw.sample_type]
        self.functions = self.by_id(self.raw.function)
        self.locations = self.by_id(self.raw.location)
        self.mappings = self.by_id(self.raw.mapping)

    @staticmethod
    def by_id(messages):
        found = {m.id: m for m in messages}
        assert len(found) == len(messages) and 0 not in found, "ids must be unique and not 0"
        return found

    def stack(self, sample):
        """The names of the functions, outermost first."""
        names = []
        for number in sample.location_id:
            lines = self.locations[number].line
            names += [self.strings[self.functions[line.function_id].name] for line in lines]
        return tuple(reversed(names))

    def stacks(self, which):
        """{stack: value} of one sample type."""
        found = {}
        for sample in self.raw.sample:
            assert len(sample.value) == len(self.types)
            stack = self.stack(sample)
            found[stack] = found.get(stack, 0) + sample.value[which]
        return found

    def labels(self, sample):
        return {self.strings[l.key]: self.strings[l.str] if l.str else l.num for l in sample.label}


class Maker:
    """Puts a profile of pprof together; texts become numbers of strings."""

    def __init__(self, *types):
        self.strings, self.parts = [''], []
        for kind, unit in types:
            self.add(1, self.pair(kind, unit))

    def text(self, text):
        if text not in self.strings:
            self.strings.append(text)
        return self.strings.index(text)

    def pair(self, kind, unit):
        return put(1, self.text(kind)) + put(2, self.text(unit))

    def add(self, field, value):
        self.parts.append(put(field, value))
        return self

    def function(self, number, name, file='', line=0, system_name=None):
        mangled = name if system_name is None else system_name
        return self.add(5, put(1, number) + put(2, self.text(name)) + put(3, self.text(mangled)) + put(4, self.text(file)) + put(5, line))

    def location(self, number, *lines, mapping=0, address=0):
        """lines: (function, line), the innermost first."""
        return self.add(4, put(1, number) + put(2, mapping) + put(3, address) + b''.join(put(4, put(1, f) + put(2, n)) for f, n in lines))

    def sample(self, locations, values, **labels):
        data = put(1, locations) + put(2, values)
        for key, value in labels.items():
            number = put(2, self.text(value)) if isinstance(value, str) else put(3, value)
            data += put(3, put(1, self.text(key)) + number)
        return self.add(2, data)

    def bytes(self):
        return b''.join(self.parts) + b''.join(put(6, s) for s in self.strings)


# ---- Perfetto --------------------------------------------------------------------------------------------------------

PROCESS = {1: ("pid", "int"), 6: ("process_name", "text")}
THREAD = {1: ("pid", "int"), 2: ("tid", "int"), 5: ("thread_name", "text")}
DESCRIPTOR = {1: ("uuid", "uint"), 2: ("name", "text"), 3: ("process", PROCESS), 4: ("thread", THREAD),
              5: ("parent_uuid", "uint"), 12: ("sibling_order_rank", "int"), 15: ("sibling_merge_behavior", "uint"),
              19: ("process_ordering", "uint"), 20: ("thread_ordering", "uint")}
ANNOTATION = {1: ("name_iid", "uint"), 3: ("uint_value", "uint"), 4: ("int_value", "int"), 5: ("double_value", "real"),
              6: ("string_value", "text")}
EVENT = {3: ("category_iids", ["uint"]), 4: ("debug_annotations", [ANNOTATION]), 9: ("type", "uint"),
         10: ("name_iid", "uint"), 11: ("track_uuid", "uint")}
INTERNED_NAME = {1: ("iid", "uint"), 2: ("name", "text")}
INTERNED = {1: ("event_categories", [INTERNED_NAME]), 2: ("event_names", [INTERNED_NAME]),
            3: ("debug_annotation_names", [INTERNED_NAME])}
PACKET = {8: ("timestamp", "uint"), 10: ("trusted_packet_sequence_id", "uint"), 11: ("track_event", EVENT),
          12: ("interned_data", INTERNED), 13: ("sequence_flags", "uint"), 60: ("track_descriptor", DESCRIPTOR)}
TRACE = {1: ("packet", [PACKET])}
