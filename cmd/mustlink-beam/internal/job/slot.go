package job

import "context"

// Slot calls f with the worker of this process when it has a processor to spare, as Each does, and sends its error on its way.
func (c Config) Slot(ctx context.Context, f func(w *Worker) error) error {
	w, err := c.Worker()
	if err != nil {
		return Tell(err)
	}
	select {
	case w.slots <- struct{}{}:
		defer func() { <-w.slots }()
	case <-ctx.Done():
		return Tell(context.Cause(ctx))
	}
	return Tell(f(w))
}
