package job

import "github.com/apache/beam/sdks/v2/go/pkg/beam"

const namespace = "mustlink"

// The counters and distributions of a job. The strings are their names in a report.
var (
	RowsRead     = beam.NewCounter(namespace, "rows_read")
	RowsWritten  = beam.NewCounter(namespace, "rows_written")
	RowsBad      = beam.NewCounter(namespace, "rows_bad")
	ElementsDone = beam.NewCounter(namespace, "elements")
	BytesRead    = beam.NewDistribution(namespace, "element_bytes") // of an element's rows as float64
	Millis       = beam.NewDistribution(namespace, "element_milliseconds")
)
