package eigen

func (s *search) lobpcg() (*Result, error) { return s.krylov() }
