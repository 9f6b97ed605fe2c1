//! Writes SAS data sets for the tests of the reader. It shares no code with the reader.

/// Variant of the format.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    /// Whether offsets and lengths take eight bytes.
    pub(crate) wide: bool,
    pub(crate) big: bool,
    /// Whether four padding bytes precede the dates of the header.
    pub(crate) shifted: bool,
    pub(crate) packing: Packing,
    /// Whether the first records follow the metadata on the same page.
    pub(crate) mix: bool,
    pub(crate) encoding: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Packing {
    None,
    Runs,
    Ross,
}

pub(crate) enum Values<'a> {
    /// Texts of this many bytes.
    Texts(usize, Vec<&'a [u8]>),
    /// Numbers of this many bytes. `None` is the missing value `.`.
    Numbers(usize, Vec<Option<f64>>),
}

pub(crate) struct Column<'a> {
    pub(crate) name: &'a str,
    pub(crate) format: &'a str,
    pub(crate) values: Values<'a>,
}

const PAGE: usize = 4096;
const HEADER: usize = 1024;

impl Layout {
    fn word(&self) -> usize {
        if self.wide { 8 } else { 4 }
    }

    fn page_header(&self) -> usize {
        if self.wide { 40 } else { 24 }
    }

    /// The lowest `size` bytes of a number, in the byte order of the file.
    fn bytes(&self, number: u64, size: usize) -> Vec<u8> {
        let mut bytes = number.to_le_bytes()[..size].to_vec();
        if self.big {
            bytes.reverse();
        }
        bytes
    }

    fn put(&self, into: &mut [u8], at: usize, number: u64, size: usize) {
        into[at..at + size].copy_from_slice(&self.bytes(number, size));
    }

    fn put_word(&self, into: &mut [u8], at: usize, number: usize) {
        self.put(into, at, number as u64, self.word());
    }

    /// A subheader that starts with its four-byte signature. In wide files, the signature is
    /// extended with ones, or with zeros for sizes.
    fn part(&self, signature: u32, length: usize) -> Vec<u8> {
        let mut part = vec![0; length];
        let wide = if signature >> 24 == 0xff { 0xffff_ffff_0000_0000 } else { 0 };
        self.put(&mut part, 0, wide | u64::from(signature), self.word());
        part
    }
}

/// The bytes of a data set.
pub(crate) fn data_set(layout: Layout, columns: &[Column<'_>]) -> Vec<u8> {
    let word = layout.word();
    let records = match &columns[0].values {
        Values::Texts(_, values) => values.len(),
        Values::Numbers(_, values) => values.len(),
    };
    let width_of = |column: &Column<'_>| match column.values {
        Values::Texts(width, _) | Values::Numbers(width, _) => width,
    };
    let width: usize = columns.iter().map(width_of).sum();
    let rows: Vec<Vec<u8>> = (0..records).map(|record| row(layout, columns, record)).collect();

    // The texts: name of the compression, column names, formats.
    let mut text = vec![0; word + 16];
    match layout.packing {
        Packing::None => text.extend([b' '; 8]),
        Packing::Runs => text.extend(b"SASYZCRL"),
        Packing::Ross => text.extend(b"SASYZCR2"),
    }
    let mut quotes = Vec::new();
    for column in columns {
        for part in [column.name, column.format] {
            quotes.push((text.len() - word, part.len()));
            text.extend(part.as_bytes());
            text.resize(text.len().next_multiple_of(4), 0);
        }
    }
    let size = text.len();
    let signed = layout.part(0xffff_fffd, word);
    text[..word].copy_from_slice(&signed);
    layout.put(&mut text, word, (size - word) as u64, 2);

    let mut names = layout.part(0xffff_ffff, 2 * word + 12 + 8 * columns.len());
    let mut places = layout.part(0xffff_fffc, 2 * word + 12 + (word + 8) * columns.len());
    let mut formats = Vec::new();
    let mut place = 0;
    for (index, column) in columns.iter().enumerate() {
        let (from, length) = quotes[2 * index];
        let at = word + 8 * (index + 1);
        layout.put(&mut names, at + 2, from as u64, 2);
        layout.put(&mut names, at + 4, length as u64, 2);
        let at = word + 8 + (word + 8) * index;
        layout.put_word(&mut places, at, place);
        layout.put(&mut places, at + word, width_of(column) as u64, 4);
        places[at + word + 6] = if matches!(column.values, Values::Numbers(..)) { 1 } else { 2 };
        place += width_of(column);
        let (from, length) = quotes[2 * index + 1];
        let mut format = layout.part(0xffff_fbfe, 3 * word + 40);
        layout.put(&mut format, 3 * word + 24, from as u64, 2);
        layout.put(&mut format, 3 * word + 26, length as u64, 2);
        formats.push(format);
    }
    let mut sizes = layout.part(0xf7f7_f7f7, if layout.wide { 808 } else { 480 });
    layout.put_word(&mut sizes, 5 * word, width);
    layout.put_word(&mut sizes, 6 * word, records);
    let mut count = layout.part(0xf6f6_f6f6, 3 * word);
    layout.put_word(&mut count, word, columns.len());
    let counts = layout.part(0xffff_fc00, 12 * word);

    let mut parts: Vec<(Vec<u8>, u8, u8)> = Vec::new();
    let on_mix = if layout.mix { records.min(3) } else { 0 };
    layout.put_word(&mut sizes, 15 * word, on_mix);
    for part in [sizes, count, counts, text, names, places].into_iter().chain(formats) {
        parts.push((part, 0, 0));
    }
    let mut pages =
        vec![page(layout, &parts, &rows[..on_mix], if layout.mix { 0x0200 } else { 0 })];
    match layout.packing {
        Packing::None => {
            let per_page = (PAGE - layout.page_header()) / width;
            for rows in rows[on_mix..].chunks(per_page) {
                pages.push(page(layout, &[], rows, 0x0100));
            }
        }
        packing => {
            let packed = rows[on_mix..].iter().map(|row| match packing {
                Packing::Ross => ross(row),
                _ => runs(row),
            });
            // A record that compression does not shorten is stored uncompressed.
            let parts: Vec<(Vec<u8>, u8, u8)> =
                packed
                    .zip(&rows[on_mix..])
                    .map(|(packed, row)| {
                        if packed.len() < row.len() { (packed, 4, 1) } else { (row.clone(), 0, 1) }
                    })
                    .collect();
            for parts in parts.chunks(20) {
                pages.push(page(layout, parts, &[], 0));
            }
        }
    }
    let mut file = header(layout, pages.len());
    file.extend(pages.concat());
    file
}

fn header(layout: Layout, pages: usize) -> Vec<u8> {
    let mut header = vec![0; HEADER];
    header[..32].copy_from_slice(
        b"\0\0\0\0\0\0\0\0\0\0\0\0\xc2\xea\x81\x60\xb3\x14\x11\xcf\xbd\x92\x08\0\x09\xc7\x31\x8c\x18\x1f\x10\x11",
    );
    header[32] = if layout.wide { b'3' } else { b'"' };
    header[35] = if layout.shifted { b'3' } else { b'2' };
    header[37] = if layout.big { 0 } else { 1 };
    header[70] = layout.encoding;
    header[84..92].copy_from_slice(b"SAS FILE");
    let shift = if layout.shifted { 4 } else { 0 };
    layout.put(&mut header, 196 + shift, HEADER as u64, 4);
    layout.put(&mut header, 200 + shift, PAGE as u64, 4);
    layout.put_word(&mut header, 204 + shift, pages);
    header
}

/// A page: the list of its subheaders, then records. The subheaders fill the page from its end.
fn page(layout: Layout, parts: &[(Vec<u8>, u8, u8)], rows: &[Vec<u8>], kind: u16) -> Vec<u8> {
    let mut page = vec![0; PAGE];
    let word = layout.word();
    let begins = layout.page_header();
    layout.put(&mut page, begins - 8, u64::from(kind), 2);
    layout.put(&mut page, begins - 6, (parts.len() + rows.len()) as u64, 2);
    layout.put(&mut page, begins - 4, parts.len() as u64, 2);
    let mut end = PAGE;
    for (index, (part, packing, is_record)) in parts.iter().enumerate() {
        end -= part.len();
        page[end..end + part.len()].copy_from_slice(part);
        let at = begins + index * 3 * word;
        layout.put_word(&mut page, at, end);
        layout.put_word(&mut page, at + word, part.len());
        page[at + 2 * word] = *packing;
        page[at + 2 * word + 1] = *is_record;
    }
    let mut at = (begins + parts.len() * 3 * word).next_multiple_of(8);
    for row in rows {
        page[at..at + row.len()].copy_from_slice(row);
        at += row.len();
    }
    assert!(at <= end, "a page is too small for this table");
    page
}

fn row(layout: Layout, columns: &[Column<'_>], record: usize) -> Vec<u8> {
    let mut row = Vec::new();
    for column in columns {
        match &column.values {
            Values::Texts(width, values) => {
                let mut text = values[record].to_vec();
                text.resize(*width, b' ');
                row.extend(text);
            }
            Values::Numbers(width, values) => {
                let bits = values[record].map_or(0xffff_fe00_0000_0000, f64::to_bits);
                row.extend(layout.bytes(bits >> (8 * (8 - width)), *width));
            }
        }
    }
    row
}

/// Run-length encoding.
fn runs(row: &[u8]) -> Vec<u8> {
    let mut packed = Vec::new();
    let mut at = 0;
    let run = |from: usize| row[from..].iter().take_while(|byte| **byte == row[from]).count();
    while at < row.len() {
        let same = run(at).min(17);
        match row[at] {
            b' ' if same >= 2 => packed.push(0xe0 + (same - 2) as u8),
            0 if same >= 2 => packed.push(0xf0 + (same - 2) as u8),
            byte if same >= 3 => packed.extend([0xc0 + (same - 3) as u8, byte]),
            _ => {
                let until = (at..row.len())
                    .take(16)
                    .take_while(|from| run(*from) < 2 || *from == at)
                    .count();
                packed.push(0x80 + (until - 1) as u8);
                packed.extend(&row[at..at + until]);
                at += until;
                continue;
            }
        }
        at += same;
    }
    packed
}

/// Ross Data Compression, with short runs and short copies only.
fn ross(row: &[u8]) -> Vec<u8> {
    let mut packed = Vec::new();
    let mut items: Vec<(bool, Vec<u8>)> = Vec::new();
    let mut at = 0;
    while at < row.len() {
        let same = row[at..].iter().take_while(|byte| **byte == row[at]).count().min(18);
        let copy = (3..=at.min(4000)).find_map(|back| {
            let alike = (0..15)
                .take_while(|i| at + i < row.len() && row[at + i] == row[at + i - back])
                .count();
            (alike >= 3).then_some((back, alike))
        });
        let taken = match (same, copy) {
            (3.., _) => {
                items.push((true, vec![(same - 3) as u8, row[at]]));
                same
            }
            (_, Some((back, alike))) => {
                let back = back - 3;
                items.push((true, vec![(alike as u8) << 4 | (back & 15) as u8, (back >> 4) as u8]));
                alike
            }
            _ => {
                items.push((false, vec![row[at]]));
                1
            }
        };
        at += taken;
    }
    for sixteen in items.chunks(16) {
        let flag = |(i, (command, _)): (usize, &(bool, Vec<u8>))| u16::from(*command) << (15 - i);
        let flags: u16 = sixteen.iter().enumerate().map(flag).sum();
        packed.extend(flags.to_be_bytes());
        packed.extend(sixteen.iter().flat_map(|(_, bytes)| bytes));
    }
    packed
}
