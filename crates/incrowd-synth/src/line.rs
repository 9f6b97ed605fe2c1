//! Writes CSV lines without the formatting machinery.

/// A CSV line under construction at the end of a buffer.
///
/// No value of any table contains a comma, a quote or a line break, so nothing is ever quoted.
pub(crate) struct Line<'a>(&'a mut Vec<u8>);

impl<'a> Line<'a> {
    pub(crate) fn new(buffer: &'a mut Vec<u8>) -> Self {
        Self(buffer)
    }

    /// Appends a field of text.
    #[inline]
    pub(crate) fn text(&mut self, text: &str) {
        self.0.extend_from_slice(text.as_bytes());
        self.0.push(b',');
    }

    /// Appends a field with a whole number.
    #[inline]
    pub(crate) fn number(&mut self, value: u64) {
        self.digits(value, 1);
        self.0.push(b',');
    }

    /// Appends a field with the identifier of a person, counted from one.
    #[inline]
    pub(crate) fn id(&mut self, number: u64) {
        self.0.push(b'P');
        self.digits(number, 8);
        self.0.push(b',');
    }

    /// Closes the line, turning the comma after the last field into the line break.
    #[inline]
    pub(crate) fn end(self) {
        if let Some(last) = self.0.last_mut() {
            *last = b'\n';
        }
    }

    /// Appends `value` with leading zeros up to `width` digits.
    #[inline]
    fn digits(&mut self, mut value: u64, width: usize) {
        // Twenty digits hold the largest value.
        let mut digits = [b'0'; 20];
        let mut start = digits.len();
        while value > 0 {
            start -= 1;
            digits[start] += (value % 10) as u8;
            value /= 10;
        }
        self.0.extend_from_slice(&digits[start.min(digits.len() - width)..]);
    }
}

#[cfg(test)]
mod tests {
    use super::Line;

    #[test]
    fn fields_are_joined_and_closed() {
        let mut buffer = b"before\n".to_vec();
        let mut line = Line::new(&mut buffer);
        line.id(1);
        line.id(123_456_789);
        line.number(0);
        line.text("");
        line.number(u64::MAX);
        line.text("x");
        line.end();
        assert_eq!(buffer, b"before\nP00000001,P123456789,0,,18446744073709551615,x\n");
    }
}
