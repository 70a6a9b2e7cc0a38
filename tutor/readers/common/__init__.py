"""What readers of other tools' logs share: lines to rows, rows to a run, fields of a protobuf message."""
