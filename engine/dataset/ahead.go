package dataset

import "context"

// Ahead returns a function that returns what next does, in order, while next runs in a goroutine of its own, one call ahead of
// the caller: so reading, computing and writing overlap when each is put ahead of the one behind it. After an error of next,
// io.EOF among them, or after the end of ctx, every further call returns that error. The caller must call stop, which ends
// the context of a call of next under way and waits for it.
func Ahead[T any](ctx context.Context, next func(context.Context) (T, error)) (ahead func() (T, error), stop func()) {
	type outcome struct {
		value T
		err   error
	}
	ctx, cancel := context.WithCancelCause(ctx)
	results, done := make(chan outcome), make(chan struct{})
	go func() {
		defer close(done)
		for {
			value, err := next(ctx)
			select {
			case results <- outcome{value, err}:
			case <-ctx.Done():
				return
			}
			if err != nil {
				return
			}
		}
	}()
	var last error
	ahead = func() (T, error) {
		var none T
		if last != nil {
			return none, last
		}
		select {
		case r := <-results:
			last = r.err
			return r.value, r.err
		case <-ctx.Done():
			last = context.Cause(ctx)
			return none, last
		}
	}
	return ahead, func() { cancel(context.Canceled); <-done }
}
