package oracletest

import (
	"bytes"
	"fmt"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"
)

// Wide writes a file of so many columns and row groups with arrow-go: integers,
// doubles and text by turns, with statistics, field ids and a page index.
func Wide(columns, groups int) ([]byte, error) {
	fields := make(schema.FieldList, columns)
	types := []parquet.Type{parquet.Types.Int64, parquet.Types.Double, parquet.Types.ByteArray}
	for i := range fields {
		name := fmt.Sprintf("column_%04d", i)
		fields[i] = schema.MustPrimitive(schema.NewPrimitiveNode(name, parquet.Repetitions.Optional, types[i%3], int32(i+1), -1))
	}
	root, err := schema.NewGroupNode("table", parquet.Repetitions.Required, fields, -1)
	if err != nil {
		return nil, fmt.Errorf("make schema: %w", err)
	}
	var out bytes.Buffer
	w := file.NewParquetWriter(&out, root, file.WithWriterProps(parquet.NewWriterProperties(
		parquet.WithCompression(compress.Codecs.Snappy),
		parquet.WithPageIndexEnabled(true),
	)))
	for g := range groups {
		rows, err := w.AppendRowGroupChecked()
		if err != nil {
			return nil, fmt.Errorf("start row group: %w", err)
		}
		for range columns {
			c, err := rows.NextColumn()
			if err != nil {
				return nil, fmt.Errorf("start column: %w", err)
			}
			if err := writeColumn(c, g); err != nil {
				return nil, err
			}
		}
		if err := rows.Close(); err != nil {
			return nil, fmt.Errorf("close row group: %w", err)
		}
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("close file: %w", err)
	}
	return out.Bytes(), nil
}

// writeColumn writes the values of one chunk, one of them null.
func writeColumn(c file.ColumnChunkWriter, g int) (err error) {
	levels := []int16{1, 1, 0, 1}
	switch w := c.(type) {
	case *file.Int64ColumnChunkWriter:
		_, err = w.WriteBatch([]int64{int64(g), 7, int64(g * 1000)}, levels, nil)
	case *file.Float64ColumnChunkWriter:
		_, err = w.WriteBatch([]float64{float64(g), 0.5, -1}, levels, nil)
	case *file.ByteArrayColumnChunkWriter:
		text := []byte(fmt.Sprintf("value %d", g))
		_, err = w.WriteBatch([]parquet.ByteArray{text, text, []byte("z")}, levels, nil)
	}
	if err != nil {
		return fmt.Errorf("write values: %w", err)
	}
	if err := c.Close(); err != nil {
		return fmt.Errorf("close column: %w", err)
	}
	return nil
}
